package io.ringfence.election.internal;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings events to listeners: each has a queue of its own, so that none waits for another. Thread-safe; never blocks. */
public final class Listeners {
    private static final Logger LOG = LoggerFactory.getLogger(ElectionListener.class);

    private final List<Line> lines;

    /**
     * Creates the queues.
     *
     * @param listeners who listens
     * @param executor runs the calls
     */
    public Listeners(List<ElectionListener> listeners, Executor executor) {
        this.lines =
                listeners.stream().map(listener -> new Line(listener, executor)).toList();
    }

    /**
     * Tells of a lease that was won.
     *
     * @param lease the lease
     */
    public void acquired(Lease lease) {
        tell(listener -> listener.onAcquired(lease));
    }

    /**
     * Tells of a lease that was lost.
     *
     * @param lease the lease
     * @param reason why
     */
    public void lost(Lease lease, LossReason reason) {
        tell(listener -> listener.onLost(lease, reason));
    }

    private void tell(Consumer<ElectionListener> event) {
        lines.forEach(line -> line.add(event));
    }

    /** The events of one listener. Whoever adds the first one to an idle line hands the line to a thread, which empties it. */
    private static final class Line {
        private final ElectionListener listener;
        private final Executor executor;
        private final ReentrantLock lock = new ReentrantLock();
        private final Queue<Consumer<ElectionListener>> events = new ArrayDeque<>();
        private boolean running;

        Line(ElectionListener listener, Executor executor) {
            this.listener = listener;
            this.executor = executor;
        }

        void add(Consumer<ElectionListener> event) {
            lock.lock();
            try {
                events.add(event);
                if (running) {
                    return;
                }
                running = true;
            } finally {
                lock.unlock();
            }
            executor.execute(this::drain);
        }

        private void drain() {
            for (Consumer<ElectionListener> event = next(); event != null; event = next()) {
                try {
                    event.accept(listener);
                } catch (Throwable e) {
                    LOG.atError()
                            .setCause(e)
                            .log("The listener {} threw; nothing else is affected", listener.getClass());
                }
            }
        }

        private @Nullable Consumer<ElectionListener> next() {
            lock.lock();
            try {
                Consumer<ElectionListener> event = events.poll();
                running = event != null;
                return event;
            } finally {
                lock.unlock();
            }
        }
    }
}
