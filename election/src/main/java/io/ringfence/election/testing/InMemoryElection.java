package io.ringfence.election.testing;

import io.ringfence.election.Election;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.internal.Loops;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** The blocking calls of one election of one process. */
final class InMemoryElection implements Election {
    private final InMemoryProcess process;
    private final Loops loops;
    private final String name;

    InMemoryElection(InMemoryProcess process, Loops loops, String name) {
        this.process = process;
        this.loops = loops;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public InMemoryLease acquire() throws InterruptedException {
        requireNotInterrupted();
        return await(contend(Ticket.Mode.WAIT, Long.MAX_VALUE))
                .orElseThrow(() -> new IllegalStateException("a waiting call was told no"));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        if (Thread.currentThread().isInterrupted()) {
            return Optional.empty();
        }
        try {
            return await(contend(Ticket.Mode.ONCE, Long.MAX_VALUE)).map(Lease.class::cast);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("The timeout must not be negative, but is " + timeout);
        }
        requireNotInterrupted();
        if (timeout.isZero()) {
            return tryAcquire();
        }
        return await(contend(Ticket.Mode.TIMED, saturatedNanos(timeout))).map(Lease.class::cast);
    }

    @Override
    public LeaderLoop lead(LeaderLoop.Work work, LeaderLoop.Options options) {
        process.world.change(() -> process.requireOpen());
        return loops.start(name, work, options, this::acquire);
    }

    @Override
    public Optional<String> leader() {
        return process.world.ask(() -> process.leader(name));
    }

    private Ticket contend(Ticket.Mode mode, long timeoutNanos) {
        return process.world.ask(() -> {
            long now = process.world.now();
            long deadline = timeoutNanos < Long.MAX_VALUE - now ? now + timeoutNanos : Long.MAX_VALUE;
            return process.contend(name, mode, deadline);
        });
    }

    /** Waits in real time for what happens in the world's. An interrupted call leaves nothing locked. */
    private Optional<InMemoryLease> await(Ticket ticket) throws InterruptedException {
        try {
            return ticket.result.get();
        } catch (InterruptedException e) {
            process.world.ask(() -> process.cancel(ticket)).ifPresent(InMemoryLease::release);
            throw e;
        } catch (ExecutionException e) {
            throw here(e);
        }
    }

    private static void requireNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before contending");
        }
    }

    /** The failure of a ticket, with the stack of the caller instead of the thread that ended the wait. */
    private static RuntimeException here(ExecutionException e) {
        if (e.getCause() instanceof RuntimeException failure) {
            failure.fillInStackTrace();
            return failure;
        }
        return new IllegalStateException(e.getCause());
    }

    private static long saturatedNanos(Duration duration) {
        return duration.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0 ? duration.toNanos() : Long.MAX_VALUE;
    }
}
