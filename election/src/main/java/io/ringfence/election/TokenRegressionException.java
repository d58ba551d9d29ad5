package io.ringfence.election;

/**
 * The current leader's token is lower than one that was seen before, so every store that remembers the higher one
 * refuses the rightful leader.
 *
 * <p>It happens when Consul was rebuilt or restored from a backup (its indexes start low again), or when tokens of two
 * elections or datacenters were used on one resource. Waiting does not help: an operator has to act, as the message says.
 */
public final class TokenRegressionException extends ElectionException {
    private static final long serialVersionUID = 1L;

    /** The token of the current leader. */
    private final long granted;

    /** The higher token that was seen before. */
    private final long seen;

    /**
     * Creates an exception.
     *
     * @param subject what the tokens belong to, for example {@code election 'invoices'} or {@code table invoices}
     * @param granted the token of the current leader
     * @param seen the higher token that was seen before
     */
    public TokenRegressionException(String subject, FencingToken granted, FencingToken seen) {
        super(
                "Tokens of " + subject + " went backwards: the current leader's token is " + granted + ", but " + seen
                        + " was seen before. Either Consul was rebuilt or restored, or another election or datacenter"
                        + " wrote to this resource. Do not lower stored tokens: if Consul was rebuilt, raise the epoch"
                        + " for all processes, else keep the elections apart",
                null);
        this.granted = granted.value();
        this.seen = seen.value();
    }

    /** {@return the token of the current leader} */
    public FencingToken granted() {
        return new FencingToken(granted);
    }

    /** {@return the higher token that was seen before} */
    public FencingToken seen() {
        return new FencingToken(seen);
    }
}
