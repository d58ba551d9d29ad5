package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoriesTest {

    @TempDir
    private Path directory;

    @Test
    void cachesWhereTheScriptDoes() {
        String own = directory.resolve("own").toString();
        String shared = directory.resolve("shared").toString();
        String home = directory.toString();

        assertThat(Directories.cache(Map.of("RINGFENCE_CACHE", own, "XDG_CACHE_HOME", shared, "HOME", home)))
                .isDirectory()
                .isEqualTo(directory.resolve("own"));
        assertThat(Directories.cache(Map.of("XDG_CACHE_HOME", shared, "HOME", home)))
                .isDirectory()
                .isEqualTo(directory.resolve("shared/ringfence"));
        assertThat(Directories.cache(Map.of("HOME", home)))
                .isDirectory()
                .isEqualTo(directory.resolve(".cache/ringfence"));
    }

    @Test
    void cachesBelowTheBuildDirectory_whereTheCacheCannotBeUsed() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThat(Directories.cache(Map.of())).isEqualTo(Directories.base());
        assertThat(Directories.cache(Map.of("RINGFENCE_CACHE", "relative"))).isEqualTo(Directories.base());
        assertThat(Directories.cache(Map.of("RINGFENCE_CACHE", file + "/below")))
                .isEqualTo(Directories.base());
    }
}
