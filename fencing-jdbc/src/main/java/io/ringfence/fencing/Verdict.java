package io.ringfence.fencing;

import org.jspecify.annotations.Nullable;

/**
 * What a seal came to.
 *
 * @param committed whether the transaction is committed with it
 * @param refusal why the transaction must not be committed, if that is so
 */
record Verdict(boolean committed, @Nullable RuntimeException refusal) {
    /** The fence is locked, and COMMIT can follow. */
    static final Verdict SEALED = new Verdict(false, null);

    static final Verdict COMMITTED = new Verdict(true, null);

    static Verdict refused(RuntimeException refusal) {
        return new Verdict(false, refusal);
    }
}
