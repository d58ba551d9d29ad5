package io.ringfence.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.examples.Repository;
import io.ringfence.servers.ChildJvm;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PausedLeaderDemoIT {
    private static final Duration PATIENCE = Duration.ofSeconds(150);

    @Test
    void exitsWithZero_andPrintsTheTranscriptOfTheReadme() throws Exception {
        long began = System.nanoTime();
        try (ChildJvm demo = start(System.getProperty("java.class.path"))) {
            assertThat(demo.awaitExit(PATIENCE))
                    .as(demo.toString() + demo.lines())
                    .isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(90));
            String readme =
                    normalized(Repository.readmeBlock("prints this").lines().toList());
            String printed = normalized(demo.lines());
            assertThat(printed).isEqualTo(readme);
            assertThat(printed.lines().filter(line -> line.contains(" s ")).count())
                    .isBetween(12L, 24L);
        }
    }

    @Test
    void fails_whenTheRowFencesPredicateIsRemoved(@TempDir Path patched) throws Exception {
        // What the fence adds to the statement still compares tokens, but lets older ones through.
        patch(patched, "io/ringfence/fencing/internal/FencedStatement.class", " <= ", " <> ");
        try (ChildJvm demo = start(patched + ":" + System.getProperty("java.class.path"))) {
            assertThat(demo.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(demo.lines()).anyMatch(line -> line.contains("FAILED: a stale write was accepted"));
        }
    }

    private static ChildJvm start(String classPath) {
        return ChildJvm.start(
                PausedLeaderDemo.class,
                List.of("-cp", classPath, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-Dringfence.quiet=true"));
    }

    /** Writes a copy of a class of the library in which one text is another one of the same length. */
    private static void patch(Path folder, String name, String from, String to) throws IOException {
        try (InputStream original = PausedLeaderDemo.class.getClassLoader().getResourceAsStream(name)) {
            // Latin-1 keeps every byte as it is.
            String bytes = new String(original.readAllBytes(), StandardCharsets.ISO_8859_1);
            assertThat(bytes).as("a class with '" + from + "' in it").containsOnlyOnce(from);
            Path copy = folder.resolve(name);
            Files.createDirectories(copy.getParent());
            Files.write(copy, bytes.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** Times and tokens differ from run to run, and a reason by what was noticed first. */
    private static String normalized(List<String> lines) {
        return lines.stream()
                .map(line -> line.replaceAll("^ *[0-9]+\\.[0-9] s", "# s")
                        .replaceAll("(# s  \\w+ +)[0-9]+ ", "$1# ")
                        .replaceAll("token [0-9]+", "token #")
                        .replaceAll("lost, [A-Z_]+", "lost")
                        .replaceAll(" +", " ")
                        .strip())
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n"));
    }
}
