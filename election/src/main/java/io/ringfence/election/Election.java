package io.ringfence.election;

import java.time.Duration;
import java.util.Optional;

/**
 * One named election that any number of processes contend in; at most one of them leads.
 *
 * <p>All {@code Election} objects with one name from one {@link Elections} are the same contender: while it leads,
 * {@code tryAcquire} is empty and {@code acquire} throws. Two {@link Elections}, in one process or in two, contend with
 * each other.
 *
 * <p><b>When Consul does not answer.</b> As long as this {@link Elections} has never had an answer, a failed request ends
 * the call with an {@link ElectionException} that says what was tried: the address is probably wrong. After a first
 * answer {@link #acquire()} waits through any outage, and {@link #tryAcquire(Duration)} until its time is up. A request
 * that Consul refuses (no permission, a session TTL it does not accept) always ends the call.
 *
 * <p>Thread-safe.
 */
public interface Election {

    /** {@return the name of this election} */
    String name();

    /**
     * Waits until this process leads, and returns the lease.
     *
     * <p>A free lock is taken at once. A call that was interrupted leaves nothing locked: if the lock was just won, it is
     * given back in the background, and the next call for this name waits for that.
     *
     * @return the lease
     * @throws InterruptedException if the thread was interrupted before or while waiting
     * @throws IllegalStateException if this process leads already, or comes to lead by another waiting call (the message
     *     names the token), or the {@link Elections} is or gets closed
     * @throws TokenRegressionException if the token that Consul handed out is not greater than all seen before
     * @throws ElectionException if Consul cannot be reached or refuses; see above
     */
    Lease acquire() throws InterruptedException;

    /**
     * Tries once, and returns the lease, or empty if somebody leads or the lock is in its lock delay.
     *
     * <p>Blocks for a few requests at most, each bounded by the request time-out. If the thread is interrupted the flag
     * stays set and the answer is empty, with nothing left locked.
     *
     * @return the lease, or empty
     * @throws TokenRegressionException if the token that Consul handed out is not greater than all seen before
     * @throws ElectionException if Consul cannot be reached or refuses: "no answer" is not "no"
     * @throws IllegalStateException if the {@link Elections} is closed
     */
    Optional<Lease> tryAcquire();

    /**
     * Waits for leadership for a limited time. The timeout limits the waiting only: it does not shorten the life of the
     * lease that is returned.
     *
     * @param timeout how long to wait; zero is the same as {@link #tryAcquire()}
     * @return the lease; empty at once if this process leads already, or when the time is up
     * @throws InterruptedException if the thread was interrupted before or while waiting; nothing is left locked
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws TokenRegressionException if the token that Consul handed out is not greater than all seen before
     * @throws ElectionException if Consul refuses, or could not be reached when the time was up
     * @throws IllegalStateException if the {@link Elections} is or gets closed
     */
    Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

    /**
     * Does the work whenever this process leads, with the {@linkplain LeaderLoop.Options#defaults() default options}.
     *
     * @param work what to do in each term, on a thread of its own
     * @return the running loop; close it to stop
     * @throws IllegalStateException if a loop of this name runs already or its work has not ended yet, or the
     *     {@link Elections} is closed
     */
    default LeaderLoop lead(LeaderLoop.Work work) {
        return lead(work, LeaderLoop.Options.defaults());
    }

    /**
     * Does the work whenever this process leads. Returns at once; whether Consul can be reached shows later, in the log.
     *
     * @param work what to do in each term, on a thread of its own
     * @param options how to stop and when to try again
     * @return the running loop; close it to stop
     * @throws IllegalStateException if a loop of this name runs already or its work has not ended yet, or the
     *     {@link Elections} is closed
     */
    LeaderLoop lead(LeaderLoop.Work work, LeaderLoop.Options options);

    /**
     * Asks Consul, with a consistent read, who leads now.
     *
     * <p>The answer may be old when it arrives; never decide from it whether to write. Blocks for one request.
     *
     * @return the {@linkplain Lease#holder() holder}; empty if no live session holds the key, or one that wrote a value
     *     which is not ours
     * @throws ElectionException if Consul cannot be reached or refuses
     * @throws IllegalStateException if the {@link Elections} is closed
     */
    Optional<String> leader();
}
