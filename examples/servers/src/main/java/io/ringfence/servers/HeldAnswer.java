package io.ringfence.servers;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** An answer that a {@link TcpProxy} keeps back until it is released. Thread-safe. */
public final class HeldAnswer {

    private final AnswerRule rule;

    HeldAnswer(AnswerRule rule) {
        this.rule = rule;
    }

    /**
     * Waits until the server has answered the request, so that it has taken effect there.
     *
     * @throws CompletionException if that takes longer than {@code patience}
     */
    public void awaitArrival(Duration patience) {
        CompletableFuture<Void> arrived = rule.arrived().copy();
        arrived.orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS).join();
    }

    /** Lets the answer go on to the client, or, before it has arrived, pass without a stop. */
    public void release() {
        rule.released().complete(null);
    }
}
