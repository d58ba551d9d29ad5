package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.RowFence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Those who do not use JDBI do not need it. */
class OptionalDependencyTest {

    @Test
    void noClassOutsideOfThePackageNamesOneOfJdbi() throws IOException, URISyntaxException {
        URI classes = RowFence.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        try (Stream<Path> files = Files.walk(Path.of(classes))) {
            List<Path> named = files.filter(file -> file.toString().endsWith(".class"))
                    .filter(OptionalDependencyTest::namesJdbi)
                    .toList();

            assertThat(named)
                    .isNotEmpty()
                    .allSatisfy(file -> assertThat(file.getParent()).endsWithRaw(Path.of("io/ringfence/fencing/jdbi")));
        }
    }

    private static boolean namesJdbi(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1).contains("org/jdbi/");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
