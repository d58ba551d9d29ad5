package io.ringfence.election.internal;

import io.ringfence.election.LeaderLoop;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One loop: contend, work, give back, pause.
 *
 * <p>Its own thread does all of these, so two terms cannot overlap. Two others look in from outside. Whoever closes the
 * loop leaves the reason in {@link #stopReason} and ends the lease. The watchdog of all {@link Loops} interrupts the work of
 * a lost lease, and unlocks for a thread that does not come back. Neither the loop's lock nor the watchdog is ever held
 * while waiting for anything.
 *
 * <p>An interrupt is sent under the lock and only to a thread whose {@link #phase} can use it; the thread changes the phase
 * under the lock and clears the flag there. So no interrupt meant for one term reaches the next, or the unlock in between.
 */
final class WorkLoop implements LeaderLoop {
    private enum Phase {
        CONTENDING,
        WORKING,
        /** Between these: the thread finds out by itself that it should stop. */
        BETWEEN
    }

    private final String election;
    private final Work work;
    private final Options options;
    private final Loops loops;
    private final Loops.Terms terms;
    private final Listeners listeners;
    private final Backoff backoff;
    private final LoopLog log;
    private final Thread thread;
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition stopping = lock.newCondition();

    // Guarded by the lock.
    private Phase phase = Phase.BETWEEN;
    private @Nullable LossReason stopReason;
    private @Nullable TermLease term;
    private boolean lost;
    private boolean overran;
    private @Nullable Future<?> overrunCheck;

    WorkLoop(String election, Work work, Options options, Loops loops, Loops.Terms terms) {
        this.election = election;
        this.work = work;
        this.options = options;
        this.loops = loops;
        this.terms = terms;
        this.listeners = new Listeners(options.listener().map(List::of).orElse(List.of()), loops.listening());
        this.backoff = new Backoff(options.firstPause(), options.longestPause(), new SplittableRandom());
        this.log = new LoopLog(election);
        this.thread = loops.threads().named("loop-" + election, this::run);
    }

    void start() {
        thread.start();
    }

    boolean isThread(Thread other) {
        return thread == other;
    }

    @Override
    public String election() {
        return election;
    }

    @Override
    public void close() {
        stop(LossReason.RELEASED);
        if (!isThread(Thread.currentThread())) {
            awaitStop();
            TermLease left = overrunTerm();
            if (left != null) {
                left.close();
            }
        }
    }

    // On the loop's own thread.

    private void run() {
        try {
            while (stopReason() == null) {
                long began = System.nanoTime();
                boolean led = leadOnce();
                Duration took = Duration.ofNanos(System.nanoTime() - began);
                pause(led && took.compareTo(options.longestPause()) > 0);
            }
        } finally {
            loops.ended(this);
            over.complete(null);
        }
    }

    /** Contends, works and gives back; nothing that goes wrong on the way ends the loop. */
    private boolean leadOnce() {
        try {
            TermLease lease = contend();
            if (lease == null) {
                return false;
            }
            try (lease) {
                perform(lease);
            } finally {
                setTerm(null);
            }
            return true;
        } catch (Throwable e) {
            log.stepFailed(e);
            return false;
        }
    }

    private @Nullable TermLease contend() {
        if (!enter(Phase.CONTENDING)) {
            return null;
        }
        try {
            return terms.acquire();
        } catch (InterruptedException e) {
            if (stopReason() == null) {
                log.interruptedBySomebodyElse();
            }
            return null;
        } catch (RuntimeException e) {
            log.couldNotContend(e);
            return null;
        } finally {
            leave();
        }
    }

    private void perform(TermLease lease) {
        setTerm(lease);
        listeners.acquired(lease);
        lease.retain(reason -> {
            listeners.lost(lease, reason);
            loops.watchdog().execute(() -> onLoss(lease));
        });
        if (!enter(Phase.WORKING)) {
            lease.end(Optional.ofNullable(stopReason()).orElse(LossReason.RELEASED));
            return;
        }
        try {
            work.lead(lease);
        } catch (Throwable e) {
            log.workThrew(lease, e);
        } finally {
            leave();
        }
    }

    private void pause(boolean afresh) {
        if (afresh) {
            backoff.reset();
        }
        long end = System.nanoTime() + backoff.next().toNanos();
        lock.lock();
        try {
            while (stopReason == null && end - System.nanoTime() > 0) {
                try {
                    boolean unused = stopping.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    log.interruptedBySomebodyElse();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean enter(Phase next) {
        lock.lock();
        try {
            boolean wanted = stopReason == null && !lost;
            if (wanted) {
                boolean unused = Thread.interrupted();
                phase = next;
            }
            return wanted;
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            phase = Phase.BETWEEN;
            boolean unused = Thread.interrupted();
            if (overrunCheck != null) {
                overrunCheck.cancel(false);
                overrunCheck = null;
            }
        } finally {
            lock.unlock();
        }
    }

    private void setTerm(@Nullable TermLease lease) {
        lock.lock();
        try {
            term = lease;
            lost = false;
            overran = false;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable LossReason stopReason() {
        lock.lock();
        try {
            return stopReason;
        } finally {
            lock.unlock();
        }
    }

    // On the watchdog's thread.

    private void onLoss(TermLease lease) {
        lock.lock();
        try {
            if (lease.equals(term)) {
                lost = true;
                if (phase == Phase.WORKING) {
                    thread.interrupt();
                    overrunCheck = loops.watchdog()
                            .schedule(
                                    () -> onOverrun(lease),
                                    options.stopTimeout().toNanos(),
                                    TimeUnit.NANOSECONDS);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void onOverrun(TermLease lease) {
        boolean closing;
        lock.lock();
        try {
            if (!lease.equals(term) || phase != Phase.WORKING) {
                return;
            }
            overran = true;
            closing = stopReason != null;
        } finally {
            lock.unlock();
        }
        log.workOverran(lease, options.stopTimeout(), thread);
        lease.release();
        if (closing) {
            over.complete(null);
        }
    }

    // On the threads of whoever closes.

    /** Ends the lease and tells the thread to end; does not wait. */
    void stop(LossReason reason) {
        TermLease current;
        boolean nothingToWaitFor;
        lock.lock();
        try {
            if (stopReason == null) {
                stopReason = reason;
            }
            if (phase == Phase.CONTENDING) {
                thread.interrupt();
            }
            stopping.signalAll();
            current = term;
            nothingToWaitFor = overran;
        } finally {
            lock.unlock();
        }
        if (current != null) {
            current.end(reason);
        }
        if (nothingToWaitFor) {
            over.complete(null);
        }
    }

    void awaitShutdown() {
        if (isThread(Thread.currentThread())) {
            log.closedItself();
        } else {
            awaitStop();
        }
    }

    /** Waits until the work has ended and the key is unlocked, or the work has overrun. */
    private void awaitStop() {
        Waiting.stubbornly(over, options.stopTimeout().plus(loops.releaseLimit().multipliedBy(2)));
    }

    private @Nullable TermLease overrunTerm() {
        lock.lock();
        try {
            return overran ? term : null;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the election's name. */
    @Override
    public String toString() {
        return "LeaderLoop[" + election + "]";
    }
}
