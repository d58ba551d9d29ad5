package io.ringfence.election.internal;

import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.function.Consumer;

/**
 * What a {@link WorkLoop} needs of a lease besides the API: that the loss and the unlock are two steps. Between them the
 * lease is lost, so that its owner stops, and the key is still locked, so that nobody else starts.
 */
public interface TermLease extends Lease {

    /**
     * Keeps the key locked after a loss, as far as it is still ours, until {@link #close()} or {@link #release()}. Called at
     * most once.
     *
     * @param onLoss called once with the reason, at once if the lease is lost already. The lease reads as lost by then. It
     *     may run under a lock, so it must neither block nor call back
     */
    void retain(Consumer<LossReason> onLoss);

    /**
     * Declares the lease lost, unless it is already. A {@linkplain #retain retained} key stays locked. Does not block.
     *
     * @param reason why
     */
    void end(LossReason reason);

    /** Does what {@link #close()} does, without waiting for it. */
    void release();
}
