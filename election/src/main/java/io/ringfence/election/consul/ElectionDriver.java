package io.ringfence.election.consul;

import io.ringfence.election.internal.NamedThreads;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads behind a machine: one that watches, one that renews and does nothing else, one that sends heartbeats, one or
 * two for all other requests, a few for callbacks, a few for listeners, and a timer. All are daemon threads; those that are
 * idle end.
 */
final class ElectionDriver implements Outbox {
    private static final int CALLBACK_THREADS = 4;
    private static final int LISTENER_THREADS = 4;
    private static final Logger LOG = LoggerFactory.getLogger(ConsulElections.class);
    private static final Duration AFTER_FAILURE = Duration.ofMillis(100);
    private static final Duration IDLE = Duration.ofSeconds(30);

    private final ConsulGateway gateway;
    private final NamedThreads threads;
    private final ExecutorService renewing = pool("renew", 1);
    private final ExecutorService watching = pool("watch", 1);
    private final ExecutorService beating = pool("heartbeat", 1);
    private final ExecutorService control;
    private final ExecutorService callbacks = pool("callback", CALLBACK_THREADS);
    private final ExecutorService listening = pool("listener", LISTENER_THREADS);
    private volatile @Nullable ElectionMachine machine;
    private volatile @Nullable Thread timer;
    private final Queue<ConsulRequest> unsent = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    ElectionDriver(ConsulGateway gateway, NamedThreads threads, int controlThreads) {
        this.gateway = gateway;
        this.threads = threads;
        this.control = pool("control", controlThreads);
    }

    void drive(ElectionMachine driven) {
        machine = driven;
        Thread thread = threads.named("timer", () -> {
            while (!stopped) {
                LockSupport.parkNanos(this, tick(driven));
                boolean unused = Thread.interrupted(); // it would end every later pause at once
            }
        });
        timer = thread;
        thread.start();
    }

    /** A tick that failed must not be the last one: the next renewal hangs on it. */
    private long tick(ElectionMachine driven) {
        try {
            for (ConsulRequest request = unsent.poll(); request != null; request = unsent.poll()) {
                driven.answer(request, new ConsulAnswer.Failed("No thread could be started for a request", null));
            }
            return driven.tick();
        } catch (RuntimeException | Error e) {
            LOG.atError().setCause(e).log("A step of the elections failed; the next one follows in a moment");
            return AFTER_FAILURE.toNanos();
        }
    }

    @Override
    public void send(ConsulRequest request) {
        ExecutorService pool = control;
        if (request instanceof ConsulRequest.RenewSession) {
            pool = renewing;
        } else if (request instanceof ConsulRequest.Watch) {
            pool = watching;
        } else if (request instanceof ConsulRequest.Heartbeat) {
            pool = beating;
        }
        try {
            execute(pool, () -> {
                ConsulAnswer answer = ask(request);
                ElectionMachine answered = machine;
                if (answered != null) {
                    answered.answer(request, answer);
                }
            });
        } catch (RuntimeException | Error e) {
            LOG.atError().setCause(e).log("No thread could be started for a request to Consul");
            unsent.add(request); // answered by the timer, for the machine is in the middle of a step
            wake();
        }
    }

    /** Always answers: a request without an answer would be under way for ever. */
    private ConsulAnswer ask(ConsulRequest request) {
        try {
            return gateway.send(request);
        } catch (RuntimeException | Error e) {
            return new ConsulAnswer.Failed("A request to Consul failed: " + e, e);
        }
    }

    @Override
    public CompletableFuture<ConsulAnswer> read(String key) {
        CompletableFuture<ConsulAnswer> answer = new CompletableFuture<>();
        ConsulRequest request = new ConsulRequest.Read(key);
        boolean accepted = execute(control, () -> {
            if (answer.isDone()) {
                return; // the caller has given up
            }
            ConsulAnswer read = ask(request);
            ElectionMachine heard = machine;
            if (heard != null) {
                heard.hear(request, read);
            }
            answer.complete(read);
        });
        if (!accepted) {
            answer.complete(new ConsulAnswer.Failed("These elections are closed", null));
        }
        return answer;
    }

    @Override
    public void run(Runnable action) {
        execute(callbacks, action);
    }

    /** Calls a listener, on threads that do nothing else. */
    void listen(Runnable action) {
        execute(listening, action);
    }

    @Override
    public void wake() {
        LockSupport.unpark(timer);
    }

    /** Stops all threads; signals that are queued already still go out. */
    void stop() {
        stopped = true;
        wake();
        gateway.close();
        renewing.shutdownNow();
        watching.shutdownNow();
        beating.shutdownNow();
        control.shutdownNow();
        callbacks.shutdown();
        listening.shutdown();
    }

    private static boolean execute(ExecutorService pool, Runnable task) {
        try {
            pool.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false; // stopped, and nobody waits any more
        }
    }

    private ExecutorService pool(String job, int size) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size,
                size,
                IDLE.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                task -> threads.named(job, task));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
