package io.ringfence.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A command that runs to its end and is judged by what it printed. */
final class Command {

    /** What a command that exited with status 0 left behind. */
    record Output(String out, String err) {}

    private Command() {}

    /**
     * Runs a command to its end.
     *
     * @throws IOException if it cannot run, fails, or takes longer than {@code patience}; the message says which
     */
    static Output run(Duration patience, List<String> command) throws IOException {
        Path out = Files.createTempFile("command", ".out");
        Path err = Files.createTempFile("command", ".err");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new IOException("no end after " + patience.toSeconds() + " s");
            }
            Output output = new Output(read(out), read(err));
            if (process.exitValue() != 0) {
                throw new IOException("exit status " + process.exitValue() + ": " + output.err());
            }
            return output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        }
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
    }
}
