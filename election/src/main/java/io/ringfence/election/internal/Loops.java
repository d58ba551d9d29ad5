package io.ringfence.election.internal;

import io.ringfence.election.LeaderLoop;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The loops of one {@link io.ringfence.election.Elections}, at most one for each election, and the one thread that watches
 * over their work. Thread-safe.
 */
public final class Loops {
    private static final long IDLE_SECONDS = 30;

    private final NamedThreads threads;
    private final Executor listening;
    private final Duration releaseLimit;
    private final ScheduledThreadPoolExecutor watchdog;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final Map<String, WorkLoop> running = new HashMap<>();
    private boolean stopped;

    /**
     * Creates an empty set of loops; starts nothing.
     *
     * @param threads makes the threads of the loops
     * @param listening calls listeners; never blocks and never throws
     * @param releaseLimit how long {@link TermLease#close()} blocks at most
     */
    public Loops(NamedThreads threads, Executor listening, Duration releaseLimit) {
        this.threads = threads;
        this.listening = listening;
        this.releaseLimit = releaseLimit;
        this.watchdog = new ScheduledThreadPoolExecutor(
                1, task -> threads.named("loops", task), new ThreadPoolExecutor.DiscardPolicy());
        watchdog.setRemoveOnCancelPolicy(true);
        watchdog.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        watchdog.allowCoreThreadTimeOut(true);
    }

    /**
     * Starts a loop.
     *
     * @param election the name of the election
     * @param work what to do in each term
     * @param options how
     * @param terms where the leases come from
     * @return the running loop
     * @throws IllegalStateException if a loop of that election runs, or still ends, or all were stopped
     */
    public LeaderLoop start(String election, LeaderLoop.Work work, LeaderLoop.Options options, Terms terms) {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(options, "options");
        lock.lock();
        try {
            if (stopped) {
                throw new IllegalStateException("These elections are closed. Build new ones to take part again");
            }
            if (running.containsKey(election)) {
                throw new IllegalStateException(
                        "A loop of election '" + election + "' runs already, or its work has not"
                                + " ended yet after a close. Close it, and wait for its work, before starting another");
            }
            WorkLoop loop = new WorkLoop(election, work, options, this, terms);
            loop.start();
            running.put(election, loop);
            return loop;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Stops all loops with {@link LossReason#SHUTDOWN}, and waits until the work of each has ended or has outlasted its stop
     * timeout. Does not wait for work that is itself calling.
     */
    public void stop() {
        List<WorkLoop> loops = close();
        loops.forEach(loop -> loop.stop(LossReason.SHUTDOWN));
        loops.forEach(WorkLoop::awaitShutdown);
        watchdog.shutdown();
    }

    private List<WorkLoop> close() {
        lock.lock();
        try {
            stopped = true;
            return List.copyOf(running.values());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells whether the current thread does the work of one of these loops.
     *
     * @return whether it does
     */
    public boolean isCalledByWork() {
        lock.lock();
        try {
            return running.values().stream().anyMatch(loop -> loop.isThread(Thread.currentThread()));
        } finally {
            lock.unlock();
        }
    }

    void ended(WorkLoop loop) {
        lock.lock();
        try {
            running.remove(loop.election(), loop);
        } finally {
            lock.unlock();
        }
    }

    NamedThreads threads() {
        return threads;
    }

    Executor listening() {
        return listening;
    }

    Duration releaseLimit() {
        return releaseLimit;
    }

    ScheduledExecutorService watchdog() {
        return watchdog;
    }

    /** Where a loop gets its leases from. */
    @FunctionalInterface
    public interface Terms {

        /**
         * Waits until this process leads.
         *
         * @return the lease, whose key is locked
         * @throws InterruptedException if the thread was interrupted; nothing is left locked
         */
        TermLease acquire() throws InterruptedException;
    }
}
