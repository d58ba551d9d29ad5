package io.ringfence.election.testing;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.FencingToken;
import io.ringfence.election.consul.ConsulElections;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * A lock service in memory, for tests of code that leads: it makes as many processes as a test needs, which contend with each
 * other, and its clock stands still until the test moves it.
 *
 * <pre>{@code
 * InMemoryLockService locks = new InMemoryLockService();
 * InMemoryElections a = locks.elections("a");
 * InMemoryElections b = locks.elections("b");
 * Lease stale = a.election("invoices").tryAcquire().orElseThrow();
 *
 * a.pause();
 * locks.advance(Duration.ofSeconds(25)); // the session's TTL, then the lock delay
 * Lease next = b.election("invoices").tryAcquire().orElseThrow();
 * a.resume();
 * }</pre>
 *
 * <p>A test's own thread had better not call {@code acquire()}: while the lock is not free it waits for the clock, which only
 * the test moves.
 *
 * <p><b>Guaranteed.</b> Leases, loops and listeners behave as their interfaces say, and pass the same tests as those of
 * {@link ConsulElections}. Nothing expires unless the test advances the clock. A process that is neither paused nor
 * disconnected renews all the time, so its leases last. Who waits longest for a lock gets it next, in the order of the calls.
 * Tokens are 1, 2, 3 and so on, over all elections, unless {@linkplain #nextToken set}.
 *
 * <p><b>When things have happened.</b> Callbacks and listeners run on threads of their own, as those of {@link ConsulElections}
 * do. Each method of this class, and each of {@link InMemoryElections} that is not in {@link Elections}, returns only when all
 * that follows from it has happened and these have run; {@code advance(Duration.ZERO)} just waits for them. Do not call these
 * methods while holding a lock that a callback takes: one that blocks is waited for once, 5 seconds.
 *
 * <p><b>Not guaranteed.</b> That a call which waited, or the work of a {@linkplain io.ringfence.election.LeaderLoop loop}, has
 * gone on when such a method returns: these are threads of the test. Loops pause and stop in real time. A session ends exactly
 * after its TTL, where Consul takes up to twice as long, and news of the lock service arrives at once: nothing here shows that
 * code stands a slow network.
 *
 * <p>Thread-safe. Needs no closing: all its threads are daemon threads and end when idle.
 */
public final class InMemoryLockService {
    private final World world;

    /**
     * Creates a lock service with the TTL and the lock delay that {@link ConsulElections} has by default, 10 and 15 seconds.
     */
    public InMemoryLockService() {
        this(ConsulElections.Builder.DEFAULT_SESSION_TTL, ConsulElections.Builder.DEFAULT_LOCK_DELAY);
    }

    /**
     * Creates a lock service.
     *
     * @param sessionTtl how long a session lives without a renewal; a lease lives a fifth less
     * @param lockDelay how long a key stays locked after the session that held it ended; may be zero
     * @throws IllegalArgumentException if the TTL is not positive, or the lock delay is negative
     */
    public InMemoryLockService(Duration sessionTtl, Duration lockDelay) {
        if (sessionTtl.isNegative() || sessionTtl.isZero()) {
            throw new IllegalArgumentException("The sessionTtl must be positive, but is " + sessionTtl);
        }
        this.world = new World(sessionTtl, notNegative("The lockDelay", lockDelay));
    }

    /**
     * Adds a process.
     *
     * @param holder the identity it leads under, as {@link io.ringfence.election.Election#leader()} shows it
     * @param listeners are told of all its leases
     * @return its elections
     */
    public InMemoryElections elections(String holder, ElectionListener... listeners) {
        return new InMemoryElections(world, Objects.requireNonNull(holder, "holder"), List.of(listeners));
    }

    /**
     * Moves the clock on. What is due on the way happens in its order: leases that nobody renews are lost, sessions end, lock
     * delays are over, waiting calls lead or time out.
     *
     * @param duration how far; zero only waits for callbacks
     * @throws IllegalArgumentException if it is negative
     */
    public void advance(Duration duration) {
        notNegative("The duration", duration);
        world.control(() -> world.pass(duration));
    }

    /**
     * Sets the next token, and counts on from there. With a lower one than before this is a lock service that was rebuilt: a
     * process that saw a higher token of an election refuses the new one with
     * {@link io.ringfence.election.TokenRegressionException}; a new process cannot know, and only a fence refuses it.
     *
     * @param value the number of the next token, at least 1
     * @throws IllegalArgumentException if it is less
     */
    public void nextToken(long value) {
        FencingToken token = new FencingToken(value);
        world.control(() -> world.nextToken(token.value()));
    }

    /**
     * Unlocks the key of an election by hand, whoever holds it. If it is one of the processes, it loses that lease with
     * {@link io.ringfence.election.LossReason#LOCK_RELEASED}. Does not end a lock delay.
     *
     * @param election its name
     * @throws IllegalStateException if nobody holds it
     */
    public void unlock(String election) {
        Objects.requireNonNull(election, "election");
        world.control(() -> world.unlockByHand(election));
    }

    private static Duration notNegative(String what, Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative, but is " + duration);
        }
        return duration;
    }
}
