package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.consul.Ticket.Mode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Supplier;

/** The calls that wait for one key, first come, first served. Guarded by the machine's lock. */
final class Tickets {
    private final Deque<Ticket> waiting = new ArrayDeque<>();

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    void add(Ticket ticket) {
        waiting.add(ticket);
    }

    void remove(Ticket ticket) {
        waiting.remove(ticket);
    }

    /** The longest waiting call gets the lease; the others are told that this process leads. */
    void grant(ConsulLease lease) {
        waiting.remove().result.complete(Optional.of(lease));
        waiting.forEach(ticket -> ticket.refuseFor(lease));
        waiting.clear();
    }

    /** Somebody else leads: an answer for those that asked once. */
    void answerNo() {
        waiting.removeIf(ticket -> ticket.mode == Mode.ONCE && ticket.result.complete(Optional.empty()));
    }

    /** Consul answered, whatever it said. */
    void answered() {
        waiting.forEach(ticket -> ticket.failure = null);
    }

    void fail(Supplier<? extends RuntimeException> failure) {
        waiting.forEach(ticket -> ticket.result.completeExceptionally(failure.get()));
        waiting.clear();
    }

    /**
     * Consul cannot be used now: ends the calls that asked once, and the others too where nobody waits through an outage.
     */
    void failImpatient(Supplier<ElectionException> failure, boolean everybody) {
        waiting.removeIf(ticket -> {
            ElectionException told = failure.get();
            ticket.failure = told;
            return (everybody || ticket.mode == Mode.ONCE) && ticket.result.completeExceptionally(told);
        });
    }
}
