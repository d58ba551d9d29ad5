package io.ringfence.election;

/**
 * Is told when this process comes to lead and stops leading: for metrics, logs and alarms. It is no place for the work of
 * a leader, nor for stopping it: for these see {@link Election#lead(LeaderLoop.Work)} and {@link Lease#lost()}.
 *
 * <p><b>Order.</b> Each lease brings exactly one {@code onAcquired} and later exactly one {@code onLost}, and a listener
 * gets the events of all leases in the order in which they happened, one at a time.
 *
 * <p><b>Threads.</b> Up to four threads of the {@link Elections} serve all its listeners and call nothing else. A listener
 * that blocks delays its own later events; others wait only if four block at once. Neither the signal of a loss nor any
 * renewal ever waits for a listener, and no lock is held during a call.
 *
 * <p><b>Stale facts.</b> An event comes after the fact, however late the listener's queue runs: a lease that
 * {@code onAcquired} is told of may be lost already, and events of a shutdown may come after {@link Elections#close()} has
 * returned. Ask the lease for what is true now.
 *
 * <p><b>Exceptions.</b> What a method throws is logged as an error. It changes nothing else; the next events come as usual.
 */
public interface ElectionListener {

    /**
     * This process came to lead.
     *
     * @param lease the lease, which may be lost by now
     */
    default void onAcquired(Lease lease) {}

    /**
     * This process stopped leading, on purpose or not.
     *
     * @param lease the lost lease
     * @param reason why it was lost
     */
    default void onLost(Lease lease, LossReason reason) {}
}
