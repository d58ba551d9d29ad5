package io.ringfence.election.consul;

import io.ringfence.election.internal.Waiting;
import java.util.concurrent.CompletableFuture;

/** Waits for answers on behalf of callers. */
final class Answers {
    private Answers() {}

    /** Waits for an answer as long as a request may wait for its turn and be under way. */
    static ConsulAnswer await(CompletableFuture<ConsulAnswer> answer, Settings settings) {
        boolean interruptedBefore = Thread.currentThread().isInterrupted();
        if (Waiting.quietly(answer, settings.requestLimit().multipliedBy(2))) {
            return answer.join();
        }
        answer.cancel(false); // whoever has not sent the request yet need not
        boolean interrupted = interruptedBefore || Thread.currentThread().isInterrupted();
        return new ConsulAnswer.Failed(
                "Consul at " + settings.address() + " did not answer "
                        + (interrupted ? "before this thread was interrupted" : "in time"),
                null);
    }
}
