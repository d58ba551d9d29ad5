package io.ringfence.election;

import java.util.Objects;

/**
 * A lease was asked for its token after it was lost: this process does not lead any more and must stop its work.
 */
public final class LeaseLostException extends ElectionException {
    private static final long serialVersionUID = 1L;

    /** The name of the election. */
    private final String election;

    /** The token of the lost lease. */
    private final long token;

    /** Why it was lost. */
    private final LossReason reason;

    /**
     * Creates an exception.
     *
     * @param election the name of the election
     * @param token the token of the lost lease
     * @param reason why it was lost
     */
    public LeaseLostException(String election, FencingToken token, LossReason reason) {
        super(
                "The lease of election '" + election + "' with token " + token + " is lost (" + reason
                        + "). Stop this term's work, and acquire again to lead again",
                null);
        this.election = Objects.requireNonNull(election, "election");
        this.token = token.value();
        this.reason = reason;
    }

    /** {@return the name of the election} */
    public String election() {
        return election;
    }

    /** {@return the token of the lost lease} */
    public FencingToken token() {
        return new FencingToken(token);
    }

    /** {@return why the lease was lost} */
    public LossReason reason() {
        return reason;
    }
}
