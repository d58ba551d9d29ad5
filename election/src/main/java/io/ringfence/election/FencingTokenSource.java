package io.ringfence.election;

/**
 * Anything that can name the token to write with: a {@link Lease}, which refuses once it is lost, or a bare
 * {@link FencingToken}, which never refuses.
 *
 * <p>Implementations are thread-safe and answer the same token each time.
 */
@FunctionalInterface
public interface FencingTokenSource {

    /**
     * Returns the token, or throws if it is known to be of no more use. Does not block and does no I/O.
     *
     * <p>An answer does not mean that the token is still the highest one: its owner may be replaced between this call
     * and the write. Only the store that compares tokens can decide that.
     *
     * @return the token
     * @throws LeaseLostException if this is a lease and it is lost
     */
    FencingToken requireToken();
}
