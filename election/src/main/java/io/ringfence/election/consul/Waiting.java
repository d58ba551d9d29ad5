package io.ringfence.election.consul;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Bounded waiting of callers for what happens in the background. */
final class Waiting {
    private Waiting() {}

    /** Waits at most that long. An interrupt ends the wait and stays set. */
    static boolean quietly(CompletableFuture<?> future, Duration limit) {
        try {
            future.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException | CancellationException e) {
            return false;
        }
        return false;
    }

    /** Waits at most that long, whether interrupted or not. An interrupt stays set. */
    static void stubbornly(CompletableFuture<?> future, Duration limit) {
        boolean interrupted = Thread.interrupted();
        long end = System.nanoTime() + limit.toNanos();
        while (!future.isDone() && System.nanoTime() - end < 0) {
            quietly(future, Duration.ofNanos(Math.max(end - System.nanoTime(), 1)));
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for an answer as long as a request may wait for its turn and be under way. */
    static ConsulAnswer forAnswer(CompletableFuture<ConsulAnswer> answer, Settings settings) {
        boolean interruptedBefore = Thread.currentThread().isInterrupted();
        if (quietly(answer, settings.requestTimeout().multipliedBy(2))) {
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
