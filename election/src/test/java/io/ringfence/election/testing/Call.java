package io.ringfence.election.testing;

import static org.awaitility.Awaitility.await;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A call on a thread of its own. */
record Call<T>(Thread thread, CompletableFuture<T> result) {
    static <T> Call<T> start(Callable<T> action) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(action.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return new Call<>(thread, result);
    }

    void awaitBlocked() {
        await().atMost(ElectionFixture.SOON)
                .until(() ->
                        thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    T get() throws Exception {
        return result.get(ElectionFixture.SOON.toSeconds(), TimeUnit.SECONDS);
    }
}
