package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A process of ours that can be frozen, resumed, stopped and killed, and that dies with this JVM. Thread-safe. */
final class OsProcess {

    private static final Duration DEATH = Duration.ofSeconds(10);
    private static final Duration STOP = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(1);

    private final Process process;
    private final Thread hook;

    private OsProcess(Process process) {
        this.process = process;
        this.hook = new Thread(process::destroyForcibly, "kill-" + process.pid());
        Runtime.getRuntime().addShutdownHook(hook);
    }

    static OsProcess start(ProcessBuilder command) {
        try {
            return new OsProcess(command.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Process process() {
        return process;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGSTOP, and waits until every thread has stopped. The process keeps its connections and answers nothing. */
    void freeze() {
        signal("STOP");
        long end = System.nanoTime() + STOP.toNanos();
        while (isAlive() && !isStopped()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("process " + pid() + " went on for " + STOP + " after SIGSTOP");
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }

    /** Asks the kernel, where it tells: the signal is on its way when kill returns, and may not have arrived. */
    private boolean isStopped() {
        Path threads = Path.of("/proc", Long.toString(pid()), "task");
        if (!Files.isDirectory(threads)) {
            return true;
        }
        try (Stream<Path> tasks = Files.list(threads)) {
            for (Path task : tasks.toList()) {
                String stat = Files.readString(task.resolve("stat"));
                // the state follows the name, which is in brackets and may hold anything
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return false; // a thread ended while we looked
        }
    }

    /** Sends SIGCONT. */
    void resume() {
        signal("CONT");
    }

    /** Sends SIGKILL, which works on a frozen process too, and waits for the death. */
    void kill() {
        process.destroyForcibly();
        if (!awaitExit(DEATH)) {
            throw new IllegalStateException("process " + pid() + " outlived SIGKILL by " + DEATH);
        }
        forget();
    }

    /** Sends SIGTERM and, to a process that is still alive after {@code patience}, SIGKILL. */
    void stop(Duration patience) {
        if (isAlive()) {
            resume();
            process.destroy();
            if (!awaitExit(patience)) {
                kill();
            }
        }
        forget();
    }

    /** Waits for the exit and returns whether it came in time. */
    boolean awaitExit(Duration patience) {
        try {
            return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for process " + pid(), e);
        }
    }

    private void signal(String name) {
        // the shell's own kill: small container images carry no other
        ProcessBuilder kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).inheritIO();
        try {
            int status = kill.start().waitFor();
            if (status != 0 && isAlive()) {
                throw new IllegalStateException("kill -" + name + " " + pid() + " failed with " + status);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sending " + name + " to " + pid(), e);
        }
    }

    private void forget() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is going down; the hook finds a dead process
        }
    }
}
