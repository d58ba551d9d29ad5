package io.ringfence.fencing.corpus;

/** A fence did not hold. */
final class FenceViolation extends AssertionError {
    static final String HIGHER_TOKEN = "a lower token wrote over a higher one";
    static final String NO_TOKEN = "a row was written without the token";
    static final String OTHER_ROWS = "the fenced form writes something else";
    static final String ONLY_FENCED_REJECTED = "the server rejects only the fenced form";
    static final String ONLY_PLAIN_REJECTED = "the server rejects the statement, but not its fenced form";
    static final String NOT_COMPILED = "the compiler fails";
    static final String MISPLACED = "parameters are out of place";

    private static final long serialVersionUID = 1L;

    private final String rule;

    FenceViolation(String rule, String details) {
        super(rule + details);
        this.rule = rule;
    }

    private FenceViolation(FenceViolation cause, String where, String replay) {
        super(where + cause.getMessage() + replay, cause);
        this.rule = cause.rule;
    }

    /** Returns the same with words around its message. */
    FenceViolation at(String where, String replay) {
        return new FenceViolation(this, where, replay);
    }

    String rule() {
        return rule;
    }
}
