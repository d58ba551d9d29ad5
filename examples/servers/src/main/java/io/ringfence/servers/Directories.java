package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The directories that servers keep their data and logs in. */
final class Directories {

    private static final int TAIL_LINES = 25;

    private Directories() {}

    /** Returns {@code target/servers} below the working directory, or its like below the temporary directory. */
    static Path base() {
        Path target = Path.of("target", "servers").toAbsolutePath();
        try {
            Files.createDirectories(target);
            if (Files.isWritable(target)) {
                return target;
            }
        } catch (IOException e) {
            // the working directory is not ours to write to
        }
        return Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
    }

    /**
     * Returns the directory for what is fetched or unpacked once for many builds, the one that {@code .ci/consul} uses
     * too: {@code RINGFENCE_CACHE}, or {@code ringfence} below {@code XDG_CACHE_HOME} or {@code ~/.cache}. Where that
     * cannot be written it is the {@link #base()}.
     */
    static Path cache(Map<String, String> environment) {
        String own = environment.getOrDefault("RINGFENCE_CACHE", "");
        String shared = environment.getOrDefault("XDG_CACHE_HOME", "");
        String home = environment.getOrDefault("HOME", "");
        if (shared.isEmpty() && !home.isEmpty()) {
            shared = home + "/.cache";
        }
        String chosen = own.isEmpty() && !shared.isEmpty() ? shared + "/ringfence" : own;
        try {
            Path cache = Path.of(chosen);
            if (cache.isAbsolute() && Files.isWritable(Files.createDirectories(cache))) {
                return cache;
            }
        } catch (IOException e) {
            // not ours to write to
        }
        return base();
    }

    /** Creates an empty directory whose name starts with {@code name}. */
    static Path create(String name) {
        try {
            return Files.createTempDirectory(base(), name + "-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes a directory and what it holds. What cannot be deleted stays: it is below the build directory. */
    static void delete(Path directory) {
        try (var paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException e) {
            System.err.println("could not delete " + directory + ": " + e);
        }
    }

    /** Returns the last lines of a log for an error message, and the log's path. */
    static String tail(Path log) {
        try {
            List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
            List<String> last = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
            return "\nThe log, " + log + ", ends with:\n  " + String.join("\n  ", last);
        } catch (IOException e) {
            return "\nThe log, " + log + ", cannot be read: " + e;
        }
    }
}
