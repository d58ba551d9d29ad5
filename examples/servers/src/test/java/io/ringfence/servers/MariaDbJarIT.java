package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the jar's server is for another kind of machine it must be refused, and say so. */
class MariaDbJarIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    private Path cache;

    @Test
    void givesOneWorkingServerToAll_orRefusesAll_whenJvmsUnpackItAtTheSameTime() throws Exception {
        try (ChildJvm one = unpack();
                ChildJvm other = unpack()) {
            String found = result(one);
            assertThat(result(other)).isEqualTo(found);
            if (found.startsWith("unpacked ")) {
                Path server = Path.of(found.substring("unpacked ".length()));
                assertThat(server).startsWith(cache);
                MariaDbBinary binary = MariaDbBinary.probe(server, "");
                assertThat(server).hasToString(cache + "/mariadb-" + binary.version() + "/bin/mariadbd");
                assertThat(names())
                        .containsOnly("mariadb-" + binary.version(), "mariadb-" + binary.version() + ".lock");
                replacesOne_thatIsTruncated(server);
            } else {
                assertThat(found).contains("runs on Linux on amd64");
                assertThat(names()).isEmpty();
            }
        }
    }

    private void replacesOne_thatIsTruncated(Path server) throws IOException {
        Path left =
                Files.createDirectories(cache.resolve(cache.relativize(server).getName(0) + ".part/bin"));
        Files.writeString(left.resolve("mariadbd"), "half of one, of a build that was killed");
        Files.writeString(server, "half");
        assertThat(MariaDbJar.unpack(cache)).isEqualTo(server);
        assertThat(MariaDbBinary.probe(server, "").path()).isEqualTo(server.toRealPath());

        Object unpacked = Files.getLastModifiedTime(server);
        assertThat(MariaDbJar.unpack(cache)).isEqualTo(server);
        assertThat(Files.getLastModifiedTime(server)).isEqualTo(unpacked);
    }

    private ChildJvm unpack() {
        return ChildJvm.start(Unpacking.class, List.of(), cache.toString());
    }

    private static String result(ChildJvm child) {
        return child.awaitLine(line -> line.startsWith("unpacked ") || line.startsWith("refused "), PATIENCE);
    }

    private List<String> names() throws IOException {
        try (var kept = Files.list(cache)) {
            return kept.map(each -> each.getFileName().toString()).toList();
        }
    }

    /** Unpacks into the directory that is its argument. */
    static final class Unpacking {

        private Unpacking() {}

        public static void main(String[] args) {
            try {
                System.out.println("unpacked " + MariaDbJar.unpack(Path.of(args[0])));
            } catch (IOException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }
}
