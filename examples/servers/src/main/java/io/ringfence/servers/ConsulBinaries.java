package io.ringfence.servers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The search for a consul executable: {@code -Dconsul.bin}, {@code CONSUL_BIN}, the {@code PATH}, the project's script
 * {@code .ci/consul}, Docker. What was named explicitly must work; of the rest the first that works is taken.
 */
final class ConsulBinaries {

    private static final Duration SCRIPT_PATIENCE = Duration.ofMinutes(6);
    private static final String SCRIPT = ".ci/consul";

    private final Backends backends;
    private final @Nullable String property;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final BinarySearch<ConsulBinary> search = new BinarySearch<>("consul", ConsulBinary::probe);

    ConsulBinaries(
            Backends backends, @Nullable String property, Map<String, String> environment, Path workingDirectory) {
        this.backends = backends;
        this.property = property;
        this.environment = environment;
        this.workingDirectory = workingDirectory;
    }

    /** Returns the executable of this JVM; the first call searches and prints where it came from. */
    static ConsulBinary current() {
        if (Once.FOUND == null) {
            throw new IllegalStateException(Once.FAILURE == null ? "" : Once.FAILURE.getMessage(), Once.FAILURE);
        }
        return Once.FOUND;
    }

    /**
     * Searches.
     *
     * @throws IllegalStateException if nothing works; the message says what was tried and what to do
     */
    ConsulBinary search() {
        ConsulBinary found = backends == Backends.DOCKER ? null : local();
        if (found == null) {
            found = docker();
        }
        if (found == null) {
            throw new IllegalStateException("No consul executable. " + search.failures()
                    + "\nInstall Consul (1.8 or newer) and put it on the PATH, or name it with CONSUL_BIN or"
                    + " -Dconsul.bin=/path/to/consul, or start Docker.");
        }
        return found;
    }

    private @Nullable ConsulBinary local() {
        ConsulBinary found = search.named("-Dconsul.bin", property);
        found = found != null ? found : search.named("CONSUL_BIN", environment.get("CONSUL_BIN"));
        found = found != null ? found : search.onPath(environment.getOrDefault("PATH", ""));
        return found != null ? found : fromScript();
    }

    private @Nullable ConsulBinary fromScript() {
        for (Path directory = workingDirectory; directory != null; directory = directory.getParent()) {
            Path script = directory.resolve(SCRIPT);
            if (Files.isExecutable(script)) {
                return search.attempt(
                        SCRIPT,
                        () -> Path.of(Command.run(SCRIPT_PATIENCE, List.of(script.toString()))
                                .out()));
            }
        }
        search.failed(SCRIPT + ": not found in " + workingDirectory + " or above");
        return null;
    }

    private @Nullable ConsulBinary docker() {
        if (backends == Backends.LOCAL) {
            search.failed("Docker: not asked, because of -D" + Backends.PROPERTY + "=local");
            return null;
        }
        return search.attempt("Docker image " + ConsulImage.NAME, ConsulImage::copyBinary);
    }

    /** One search for each JVM: a failed one takes time too, and would fail again. */
    private static final class Once {

        static final @Nullable ConsulBinary FOUND;
        static final @Nullable RuntimeException FAILURE;

        static {
            ConsulBinary found = null;
            RuntimeException failure = null;
            try {
                String property = System.getProperty("consul.bin");
                Path workingDirectory = Path.of("").toAbsolutePath();
                found = new ConsulBinaries(Backends.current(), property, System.getenv(), workingDirectory).search();
                if (!Boolean.getBoolean("ringfence.quiet")) {
                    System.out.println("Consul " + found.version() + ": " + found.origin());
                }
            } catch (RuntimeException e) {
                failure = e;
            }
            FOUND = found;
            FAILURE = failure;
        }
    }
}
