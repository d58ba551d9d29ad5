package io.ringfence.election;

/**
 * A number that orders the leaders of one election: each leader's token is greater than that of every leader before.
 *
 * <p>A store that remembers the highest token it has seen can refuse everybody who comes with a lower one, and thereby
 * a leader that was frozen and woke up too late. The idea is described in Martin Kleppmann, <i>How to do distributed
 * locking</i> (2016).
 *
 * <p>Tokens of different elections, or of one election in different Consul datacenters, have no order between them:
 * comparing them is meaningless. A token says nothing about whether its leader still leads; for that see {@link Lease}.
 *
 * <p>Immutable and thread-safe.
 *
 * @param value the number, at least 1
 */
public record FencingToken(long value) implements FencingTokenSource, Comparable<FencingToken> {

    /**
     * Creates a token.
     *
     * @param value the number
     * @throws IllegalArgumentException if {@code value} is less than 1
     */
    public FencingToken {
        if (value < 1) {
            throw new IllegalArgumentException("A fencing token is at least 1, not " + value
                    + ": 0 is what a row holds that no leader has written yet");
        }
    }

    /** Returns this token itself; it never throws, because a plain token knows nothing of a lease. */
    @Override
    public FencingToken requireToken() {
        return this;
    }

    @Override
    public int compareTo(FencingToken other) {
        return Long.compare(value, other.value);
    }

    /** Returns the number in decimal. */
    @Override
    public String toString() {
        return Long.toString(value);
    }
}
