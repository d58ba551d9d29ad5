package io.ringfence.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The output of a process as lines that can be waited for. One thread reads them, another calls the listeners, so that
 * a slow listener does not block the process. Thread-safe.
 */
final class OutputLines {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // under the lock
    private final List<String> lines = new ArrayList<>();
    private final List<Consumer<String>> listeners = new ArrayList<>();
    private boolean ended;

    private final Executor calls;
    private final String name;

    OutputLines(BufferedReader reader, String name) {
        this.name = name;
        // at most one thread, and none while there is nothing to tell
        this.calls = new ThreadPoolExecutor(
                0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> daemon(task, name + "-listeners"));
        daemon(() -> readAll(reader), name + "-output").start();
    }

    List<String> lines() {
        lock.lock();
        try {
            return List.copyOf(lines);
        } finally {
            lock.unlock();
        }
    }

    void onLine(Consumer<String> listener) {
        lock.lock();
        try {
            // under the lock, so that the lines until here and those that follow are told in order and once
            List<String> past = List.copyOf(lines);
            calls.execute(() -> past.forEach(line -> call(listener, line)));
            listeners.add(listener);
        } finally {
            lock.unlock();
        }
    }

    String await(Predicate<String> matcher, String what, Duration patience) {
        boolean inTime = awaitUntil(() -> ended || first(matcher).isPresent(), patience);
        return first(matcher)
                .orElseThrow(() -> failure(what + " did not come " + (inTime ? "before the exit" : "in " + patience)));
    }

    void awaitEnd(Duration patience) {
        if (!awaitUntil(() -> ended, patience)) {
            throw failure("its output is still open, perhaps in a child of its own");
        }
    }

    IllegalStateException failure(String what) {
        return new IllegalStateException(name + ": " + what + ". Its output:\n  " + String.join("\n  ", lines()));
    }

    private Optional<String> first(Predicate<String> matcher) {
        return lines().stream().filter(matcher).findFirst();
    }

    private boolean awaitUntil(BooleanSupplier condition, Duration patience) {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (!condition.getAsBoolean()) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + name, e);
        } finally {
            lock.unlock();
        }
    }

    private void readAll(BufferedReader reader) {
        try (reader) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            // killed in the middle of a line
        } finally {
            end();
        }
    }

    private void add(String line) {
        lock.lock();
        try {
            lines.add(line);
            List<Consumer<String>> told = List.copyOf(listeners);
            calls.execute(() -> told.forEach(listener -> call(listener, line)));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private static void call(Consumer<String> listener, String line) {
        try {
            listener.accept(line);
        } catch (RuntimeException e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
