package io.ringfence.election.testing;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.ElectionNames;
import io.ringfence.election.internal.Listeners;
import io.ringfence.election.internal.Loops;
import io.ringfence.election.internal.NamedThreads;
import io.ringfence.election.testing.Connection.Link;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The elections of one process of an {@link InMemoryLockService}, which a test can pause, cut off and rob of its leases.
 * Hand it to the code under test as {@link Elections}, and keep it to say what goes wrong.
 *
 * <p>The methods of {@link Elections} do what they say there; what follows from them reaches callbacks and listeners a moment
 * later, on other threads. The other methods are the test's. They return when everything has happened that follows, and the
 * callbacks have run; see {@link InMemoryLockService}.
 *
 * <p>A process that is paused or disconnected does not renew its session: its leases are lost {@code ttl - margin} later, and
 * its session ends after the TTL. For a process that crashed, pause it and never resume it.
 *
 * <p>Thread-safe.
 */
public final class InMemoryElections implements Elections {
    /** Whom {@link Election#leader()} names after {@link #lose} with {@link LossReason#LOCK_TAKEN}. */
    public static final String SOMEBODY_ELSE = "somebody else";

    private static final Duration RELEASE_LIMIT = Duration.ofSeconds(1);

    private final World world;
    private final InMemoryProcess process;
    private final Loops loops;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;

    InMemoryElections(World world, String holder, List<ElectionListener> listeners) {
        this.world = world;
        this.process = new InMemoryProcess(world, holder, new Listeners(listeners, world.callbacks));
        this.loops = new Loops(new NamedThreads(Executors.defaultThreadFactory()), world.callbacks, RELEASE_LIMIT);
        world.change(() -> world.add(process));
    }

    /**
     * {@inheritDoc}
     *
     * <p>{@code tryAcquire(Duration)} waits on the clock of the lock service: it gives up when the test has advanced it far
     * enough, and not before. Call it from another thread than the test's, unless the lock is free.
     */
    @Override
    public Election election(String name) {
        ElectionNames.require(name, "An election's name");
        world.change(process::requireOpen);
        return new InMemoryElection(process, loops, name);
    }

    /**
     * {@inheritDoc}
     *
     * <p>A process that is paused or disconnected cannot give its keys back: its session ends when its TTL has passed.
     */
    @Override
    public void close() {
        if (!loops.isCalledByWork()) {
            closing.lock();
        } else if (!closing.tryLock()) {
            return; // whoever closes waits for this very work
        }
        try {
            if (!closed) {
                closed = true;
                loops.stop();
                world.change(process::shutDown);
            }
        } finally {
            closing.unlock();
        }
    }

    /**
     * Freezes this process, as a long garbage collection does. It renews nothing, hears nothing and tells nothing until
     * {@link #resume()}: its leases read as held until their deadline has passed, even if somebody else leads by then, and
     * {@link io.ringfence.election.Lease#lost()} completes only after the resume.
     *
     * <p>No thread is stopped: code that goes on meanwhile sees a process that cannot reach the lock service. Does nothing
     * if this is paused.
     */
    public void pause() {
        world.control(() -> process.setPaused(true));
    }

    /** Lets this process go on. Leases whose deadline has passed are lost for good. Does nothing if this is not paused. */
    public void resume() {
        world.control(() -> process.setPaused(false));
    }

    /**
     * Makes the lock service unreachable for this process until {@link #reconnect()}. Its leases end with
     * {@link LossReason#DEADLINE_EXCEEDED} when time has passed, {@code tryAcquire()} and {@code leader()} throw
     * {@link io.ringfence.election.ElectionException}, and waiting calls wait.
     */
    public void disconnect() {
        world.control(() -> process.setLink(Link.DOWN));
    }

    /**
     * Makes the lock service refuse whatever this process asks until {@link #reconnect()}. Its leases end with
     * {@link LossReason#ACCESS_DENIED} when time has passed, and all that contends, waiting calls too, ends with
     * {@link io.ringfence.election.ElectionException}.
     */
    public void denyAccess() {
        world.control(() -> process.setLink(Link.DENIED));
    }

    /** Ends what {@link #disconnect()} or {@link #denyAccess()} began. */
    public void reconnect() {
        world.control(() -> process.setLink(Link.UP));
    }

    /**
     * Ends the session of this process at the lock service: all its leases are lost with {@link LossReason#SESSION_EXPIRED},
     * and their keys are free after the lock delay. A process that is paused or disconnected does not know it yet.
     *
     * @throws IllegalStateException if there is no session, because nothing was acquired since the last one ended
     */
    public void expireSession() {
        world.control(process::expireSession);
    }

    /**
     * Takes a lease away for the reason given, and leaves the lock service as that reason does: with
     * {@link LossReason#LOCK_DELETED} and {@link LossReason#LOCK_RELEASED} the key is free; with {@link LossReason#LOCK_TAKEN}
     * {@link #SOMEBODY_ELSE} holds it until {@link InMemoryLockService#unlock}; with the others the session and all its
     * leases are lost, and their keys are free after the lock delay.
     *
     * <p>A process that is paused or disconnected does not know it yet, unless the reason is its own:
     * {@link LossReason#DEADLINE_EXCEEDED} or {@link LossReason#ACCESS_DENIED}.
     *
     * @param election the name of an election that this process holds
     * @param reason why it is lost
     * @throws IllegalArgumentException if the reason is {@link LossReason#RELEASED} or {@link LossReason#SHUTDOWN}, which
     *     are what closing is for
     * @throws IllegalStateException if this process does not hold it
     */
    public void lose(String election, LossReason reason) {
        Objects.requireNonNull(election, "election");
        Objects.requireNonNull(reason, "reason");
        world.control(() -> process.lose(election, reason));
    }

    /** Returns the name of the process. */
    @Override
    public String toString() {
        return "InMemoryElections[" + process.holder + "]";
    }
}
