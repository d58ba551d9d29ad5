package io.ringfence.election.consul;

import io.ringfence.election.Election;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.internal.Loops;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The blocking calls of one election, over the machine. */
final class ConsulElection implements Election {
    private final ElectionMachine machine;
    private final Loops loops;
    private final String name;

    ConsulElection(ElectionMachine machine, Loops loops, String name) {
        this.machine = machine;
        this.loops = loops;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public ConsulLease acquire() throws InterruptedException {
        requireNotInterrupted();
        Ticket ticket = machine.contend(name, Ticket.Mode.WAIT);
        try {
            return ticket.result.get().orElseThrow(() -> new IllegalStateException("a waiting call was told no"));
        } catch (InterruptedException e) {
            giveBack(ticket);
            throw e;
        } catch (ExecutionException e) {
            throw here(e);
        }
    }

    @Override
    public Optional<Lease> tryAcquire() {
        if (Thread.currentThread().isInterrupted()) {
            return Optional.empty();
        }
        Ticket ticket = machine.contend(name, Ticket.Mode.ONCE);
        try {
            return ticket.result.get().map(Lease.class::cast);
        } catch (InterruptedException e) {
            giveBack(ticket);
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (ExecutionException e) {
            throw here(e);
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
        Ticket ticket = machine.contend(name, Ticket.Mode.TIMED);
        try {
            return ticket.result
                    .get(saturatedNanos(timeout), TimeUnit.NANOSECONDS)
                    .map(Lease.class::cast);
        } catch (InterruptedException e) {
            giveBack(ticket);
            throw e;
        } catch (ExecutionException e) {
            throw here(e);
        } catch (TimeoutException e) {
            Optional<Lease> late = machine.cancel(ticket).map(Lease.class::cast);
            RuntimeException failure = ticket.failure;
            if (late.isEmpty() && failure != null) {
                failure.fillInStackTrace();
                throw failure;
            }
            return late;
        }
    }

    @Override
    public Optional<String> leader() {
        machine.requireOpen();
        ConsulAnswer answer = Answers.await(machine.outbox.read(machine.settings.keyPrefix() + name), machine.settings);
        if (answer instanceof ConsulAnswer.KeyRead read) {
            KeyState state = read.state();
            return state.isFree() ? Optional.empty() : HolderValue.holder(state.value());
        }
        throw machine.failure(answer);
    }

    @Override
    public LeaderLoop lead(LeaderLoop.Work work, LeaderLoop.Options options) {
        machine.requireOpen();
        return loops.start(name, work, options, this::acquire);
    }

    /** Undoes an interrupted call: what was granted in the same instant is released in the background. */
    private void giveBack(Ticket ticket) {
        machine.cancel(ticket).ifPresent(lease -> {
            CompletableFuture<Void> unused = machine.release(lease);
        });
    }

    private static void requireNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before contending");
        }
    }

    /** The failure of a ticket, with the caller's stack instead of a background thread's. */
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
