package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One call that contends for a key. Nobody attaches actions to the result, so it may be completed under a lock. */
final class Ticket {

    enum Mode {
        /** One attempt. */
        ONCE,
        /** Wait, but being refused is a "no". */
        TIMED,
        /** Wait until leading. */
        WAIT
    }

    final Slot slot;
    final Mode mode;
    final CompletableFuture<Optional<ConsulLease>> result = new CompletableFuture<>();

    /** The last thing that Consul told this ticket was a failure. */
    volatile @Nullable ElectionException failure;

    Ticket(Slot slot, Mode mode) {
        this.slot = slot;
        this.mode = mode;
    }

    /** Ends a ticket of a process that leads already. */
    void refuseFor(ConsulLease held) {
        if (mode == Mode.WAIT) {
            result.completeExceptionally(new IllegalStateException("This process leads election '" + slot.name()
                    + "' already, with token " + held.fencingToken() + ". Close that lease before acquiring again"));
        } else {
            result.complete(Optional.empty());
        }
    }
}
