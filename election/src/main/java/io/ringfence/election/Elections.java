package io.ringfence.election;

/**
 * All elections that a process takes part in. They share one session, so what ends the session ends all their leases.
 *
 * <p>Make one for a process and close it at the end. Thread-safe.
 */
public interface Elections extends AutoCloseable {

    /**
     * Returns the election of that name. Does no I/O; calling it twice with one name gives the same contender.
     * A name that was contended for costs a little memory until {@link #close()}: names are for kinds of work, not for
     * single jobs.
     *
     * @param name one or more segments joined by single {@code /}; a segment starts with a letter, a digit, {@code _} or
     *     {@code -}, and goes on with these or {@code .}
     * @return the election
     * @throws IllegalArgumentException if the name has another shape
     * @throws IllegalStateException if this is closed
     */
    Election election(String name);

    /**
     * Stops all {@linkplain Election#lead loops} and waits for their work to end; then ends every lease with
     * {@link LossReason#SHUTDOWN} and every waiting call with {@link IllegalStateException}, gives all locks back, destroys
     * the session and stops all threads.
     *
     * <p>Blocks while it does, bounded by the longest {@linkplain LeaderLoop.Options#stopTimeout stop timeout} of a loop whose
     * work runs, and a few request time-outs. If Consul does not answer in that time, the session is left to expire.
     * Idempotent; concurrent calls wait for the first one. An interrupt does not shorten the wait and leaves the flag set.
     * Never throws because of Consul.
     *
     * <p>Work of a loop should not call this: it cannot wait for itself, so its key is unlocked while it still runs. If
     * another thread is closing already, such a call returns at once.
     */
    @Override
    void close();
}
