package io.ringfence.election.testing;

import io.ringfence.election.internal.NamedThreads;
import io.ringfence.election.internal.Waiting;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs callbacks on threads of their own, as many as it takes, and lets a test wait until they have run. Its daemon threads
 * end by themselves. Thread-safe.
 */
final class Callbacks implements Executor {
    static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long IDLE_SECONDS = 1;
    private static final Logger LOG = LoggerFactory.getLogger(InMemoryLockService.class);

    private final Set<Call> running = ConcurrentHashMap.newKeySet();
    private final Set<Thread> own = ConcurrentHashMap.newKeySet();
    private final NamedThreads threads = new NamedThreads(Executors.defaultThreadFactory());
    private final Executor pool = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), this::thread);

    private Thread thread(Runnable loop) {
        return threads.named("callback", () -> {
            own.add(Thread.currentThread());
            try {
                loop.run();
            } finally {
                own.remove(Thread.currentThread());
            }
        });
    }

    @Override
    public void execute(Runnable task) {
        Call call = new Call(task);
        running.add(call);
        pool.execute(call);
    }

    /**
     * Waits until all callbacks have run, and those that they led to. One that blocks is waited for once, and not for ever.
     * A callback does not wait: it would wait for itself.
     */
    void settle() {
        if (own.contains(Thread.currentThread())) {
            return;
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!running.isEmpty()) {
            running.forEach(call ->
                    Waiting.stubbornly(call.done, Duration.ofNanos(Math.max(end - System.nanoTime(), 1))));
            if (System.nanoTime() - end >= 0) {
                LOG.atWarn()
                        .log(
                                "A callback has not returned for {}; the test goes on without it. Does it wait for"
                                        + " the test's thread, or for a lock that this thread holds?",
                                PATIENCE);
                running.clear();
            }
        }
    }

    private final class Call implements Runnable {
        private final Runnable task;
        private final CompletableFuture<Void> done = new CompletableFuture<>();

        Call(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            try {
                task.run();
            } finally {
                running.remove(this);
                done.complete(null);
            }
        }
    }
}
