package io.ringfence.election.internal;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Bounded waiting of callers for what happens in the background. */
public final class Waiting {
    private Waiting() {}

    /**
     * Waits at most that long. An interrupt ends the wait and stays set.
     *
     * @param future what to wait for
     * @param limit how long
     * @return whether it completed normally in that time
     */
    public static boolean quietly(CompletableFuture<?> future, Duration limit) {
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

    /**
     * Waits at most that long, whether interrupted or not. An interrupt stays set.
     *
     * @param future what to wait for
     * @param limit how long
     */
    public static void stubbornly(CompletableFuture<?> future, Duration limit) {
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
}
