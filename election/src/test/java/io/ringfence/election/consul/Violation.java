package io.ringfence.election.consul;

import org.jspecify.annotations.Nullable;

/** A rule that did not hold. */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;

    final Rule rule;

    Violation(Rule rule, String what, @Nullable Throwable cause) {
        super(rule + ": " + what, cause);
        this.rule = rule;
    }
}
