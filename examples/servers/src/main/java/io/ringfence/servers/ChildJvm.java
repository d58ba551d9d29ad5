package io.ringfence.servers;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Another JVM with this one's class path, which can be talked to through its standard input and output, frozen and
 * killed.
 *
 * <p>It is killed when this JVM ends. That cannot be done when this JVM is itself killed with SIGKILL, so a child's main
 * method should also end when its standard input does.
 *
 * <p>Thread-safe.
 */
public final class ChildJvm implements AutoCloseable {

    private final OsProcess process;
    private final BufferedWriter input;
    private final OutputLines output;

    private ChildJvm(OsProcess process) {
        this.process = process;
        this.input = process.process().outputWriter(StandardCharsets.UTF_8);
        BufferedReader reader = process.process().inputReader(StandardCharsets.UTF_8);
        this.output = new OutputLines(reader, "child-" + process.pid());
    }

    /**
     * Starts a JVM and returns at once.
     *
     * @param main the class with the main method
     * @param jvmArgs options for the JVM, such as {@code -Xmx64m}; a {@code -cp} among them replaces our own class path
     * @param args arguments for the main method
     */
    public static ChildJvm start(Class<?> main, List<String> jvmArgs, String... args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Dfile.encoding=UTF-8");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(jvmArgs);
        command.add(main.getName());
        command.addAll(List.of(args));
        return new ChildJvm(OsProcess.start(new ProcessBuilder(command).redirectErrorStream(true)));
    }

    /**
     * Waits for a line that contains a text, and returns the first one, which may have been printed before the call.
     *
     * @throws IllegalStateException if the child exits without it, or {@code patience} ends; with all of its output
     */
    public String awaitLine(String text, Duration patience) {
        return output.await(line -> line.contains(text), "a line with '" + text + "'", patience);
    }

    /**
     * Waits for a line that matches, and returns the first one, which may have been printed before the call.
     *
     * @throws IllegalStateException if the child exits without it, or {@code patience} ends; with all of its output
     */
    public String awaitLine(Predicate<String> matcher, Duration patience) {
        return output.await(matcher, "a line that matches", patience);
    }

    /** Returns the lines that the child has printed so far, those to its standard error included. */
    public List<String> lines() {
        return output.lines();
    }

    /**
     * Calls a listener with each line that the child has printed and will print, in order, one at a time on a thread of
     * this object. A listener that throws is reported on standard error and called again; one that blocks holds up the
     * other listeners, not the child.
     */
    public void onLine(Consumer<String> listener) {
        output.onLine(listener);
    }

    /**
     * Writes a line to the child's standard input. Blocks while the pipe to a child that does not read is full.
     *
     * @throws UncheckedIOException if the child has exited
     */
    public void send(String line) {
        try {
            // one write: a BufferedWriter locks each call, and lines of two callers must not mix
            input.append(line + System.lineSeparator()).flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the process id. */
    public long pid() {
        return process.pid();
    }

    /** Freezes the child (SIGSTOP), as a long pause does. */
    public void freeze() {
        process.freeze();
    }

    /** Resumes a frozen child (SIGCONT). */
    public void resume() {
        process.resume();
    }

    /** Kills the child (SIGKILL) and waits for its death. */
    public void kill() {
        process.kill();
    }

    /**
     * Waits until the child has exited and all of its output is in {@link #lines()}.
     *
     * @return the exit status
     * @throws IllegalStateException if that takes longer than {@code patience}; with all of the child's output
     */
    public int awaitExit(Duration patience) {
        long start = System.nanoTime();
        if (!process.awaitExit(patience)) {
            throw output.failure("no exit after " + patience);
        }
        output.awaitEnd(patience.minusNanos(System.nanoTime() - start));
        return process.process().exitValue();
    }

    /** Kills the child if it is alive. */
    @Override
    public void close() {
        kill();
    }

    @Override
    public String toString() {
        return "ChildJvm[pid " + pid() + "]";
    }
}
