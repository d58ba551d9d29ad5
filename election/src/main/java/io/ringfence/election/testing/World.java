package io.ringfence.election.testing;

import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The keys, the clock and the processes of one {@link InMemoryLockService}.
 *
 * <p>One lock guards everything. Whoever changes anything brings the world to rest before it unlocks: each process learns what
 * it can know, and then each free key goes to whoever waits longest for it. So nothing is ever due, and time passes from one
 * event to the next. Nothing blocks under the lock, and callbacks run elsewhere.
 */
final class World {
    final Duration sessionTtl;
    final Duration lockDelay;

    /** How long a process counts on its session after the last renewal. */
    final Duration term;

    final Callbacks callbacks = new Callbacks();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Key> keys = new LinkedHashMap<>();
    private final List<InMemoryProcess> processes = new ArrayList<>();
    private long nowNanos;
    private long nextToken = 1;

    World(Duration sessionTtl, Duration lockDelay) {
        this.sessionTtl = sessionTtl;
        this.lockDelay = lockDelay;
        this.term = sessionTtl.minus(sessionTtl.dividedBy(5));
    }

    /** Asks or changes something, and brings about what follows from it. */
    <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            T answer = question.get();
            settle();
            return answer;
        } finally {
            lock.unlock();
        }
    }

    /** Changes something, and brings about what follows from it. */
    void change(Runnable change) {
        boolean unused = ask(() -> {
            change.run();
            return true;
        });
    }

    /** Changes something for a test, which wants to see what follows when this returns. */
    void control(Runnable change) {
        change(change);
        callbacks.settle();
    }

    private void settle() {
        processes.forEach(InMemoryProcess::hear);
        keys.values().forEach(Key::grant);
        keys.values().forEach(Key::timeOut);
        processes.removeIf(InMemoryProcess::isGone);
    }

    // All that follows is called under the lock.

    long now() {
        return nowNanos;
    }

    void pass(Duration duration) {
        long end = Math.addExact(nowNanos, duration.toNanos());
        while (nowNanos < end) {
            long next = end;
            for (InMemoryProcess process : processes) {
                next = process.nextEvent(next);
            }
            for (Key key : keys.values()) {
                next = key.nextEvent(next);
            }
            nowNanos = next;
            settle();
        }
    }

    void add(InMemoryProcess process) {
        processes.add(process);
    }

    Key key(String election) {
        return keys.computeIfAbsent(election, missing -> new Key(this, missing));
    }

    void forEachKey(Consumer<Key> action) {
        keys.values().forEach(action);
    }

    void unlockByHand(String election) {
        Key key = key(election);
        Session session = key.session();
        if (session == null) {
            throw new IllegalStateException("Nobody holds election '" + election + "' now");
        }
        key.unlock();
        processes.forEach(process -> process.tookAway(session, election, LossReason.LOCK_RELEASED));
    }

    long takeToken() {
        return nextToken++;
    }

    void nextToken(long value) {
        nextToken = value;
    }

    /** Ends a session as an expiry does: its keys are free after the lock delay. */
    void end(Session session) {
        session.ended = true;
        forEachKeyOf(session, Key::unlockAfterDelay);
    }

    void forEachKeyOf(Session session, Consumer<Key> action) {
        forEachKey(key -> {
            if (key.session() == session) {
                action.accept(key);
            }
        });
    }
}
