package io.ringfence.examples.demo;

import io.ringfence.servers.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link Leader} in a process of its own, whose lines are printed as they come. */
final class Actor implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private final ChildJvm process;
    private final BlockingQueue<String> printed = new LinkedBlockingQueue<>();

    Actor(String... arguments) {
        process = ChildJvm.start(
                Leader.class,
                List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                arguments);
        process.onLine(line -> {
            System.out.println(line);
            printed.add(line);
        });
    }

    /** Waits until a line with that text has been printed, and returns it. */
    String awaitLine(String text) throws InterruptedException {
        process.awaitLine(text, PATIENCE); // says what the process printed, should it end
        while (true) {
            String line = printed.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (line == null) {
                throw new IllegalStateException("'" + text + "' was read but not printed");
            }
            if (line.contains(text)) {
                return line;
            }
        }
    }

    void freeze() {
        process.freeze();
    }

    void resume() {
        process.resume();
    }

    @Override
    public void close() {
        process.close();
    }
}
