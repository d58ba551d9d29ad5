package io.ringfence.election.testing;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One call that contends. Nobody attaches actions to the result, so it may be completed under a lock. */
final class Ticket {

    enum Mode {
        /** One attempt. */
        ONCE,
        /** Wait until a time on the world's clock. */
        TIMED,
        /** Wait until leading. */
        WAIT
    }

    final InMemoryProcess process;
    final String election;
    final Mode mode;

    /** When to give up, on the world's clock. */
    final long deadline;

    final CompletableFuture<Optional<InMemoryLease>> result = new CompletableFuture<>();

    Ticket(InMemoryProcess process, String election, Mode mode, long deadline) {
        this.process = process;
        this.election = election;
        this.mode = mode;
        this.deadline = deadline;
    }

    /** Ends a call of a process that leads already. */
    void refuseFor(InMemoryLease held) {
        if (mode == Mode.WAIT) {
            fail(new IllegalStateException("This process leads election '" + election + "' already, with token "
                    + held.fencingToken() + ". Close that lease before acquiring again"));
        } else {
            result.complete(Optional.empty());
        }
    }

    void fail(RuntimeException failure) {
        result.completeExceptionally(failure);
    }
}
