package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script's own machine is any: where Debian's package cannot be had it must refuse, and say what to do. */
class ConsulScriptIT {

    private static final String REMEDY = "Install Consul";

    @TempDir
    private Path directory;

    @Test
    void printsOneWorkingBinaryToAll_orRefusesAll_whenRunAtTheSameTimeOnAnEmptyCache() throws Exception {
        List<Process> runs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            runs.add(script("empty", i).start());
        }
        for (int i = 0; i < runs.size(); i++) {
            assertThat(runs.get(i).waitFor(5, TimeUnit.MINUTES)).isTrue();
            if (runs.get(i).exitValue() == 0) {
                Path binary = Path.of(out(i).strip());
                assertThat(binary).isEqualTo(directory.resolve("empty/consul"));
                assertThat(ConsulBinary.probe(binary, "").version()).startsWith("1.");
            } else {
                assertThat(out(i)).isEmpty();
                assertThat(err(i)).contains(REMEDY);
            }
        }
        assertThat(runs).extracting(Process::exitValue).containsOnly(runs.get(0).exitValue());
        try (var kept = Files.list(directory.resolve("empty"))) {
            assertThat(kept.filter(file -> file.getFileName().toString().startsWith("work")))
                    .isEmpty();
        }
    }

    @Test
    void needsNoNetwork_whenTheBinaryIsCached() throws Exception {
        cache("cached", "whole", "whole".length());
        assertThat(offline("cached").exitValue()).isZero();
        assertThat(out(0).strip()).isEqualTo(directory.resolve("cached/consul").toString());
    }

    @Test
    void doesNotTrustACachedBinary_thatIsTruncated() throws Exception {
        cache("truncated", "who", "whole".length());
        assertThat(offline("truncated").exitValue()).isNotZero();
        assertThat(out(0)).isEmpty();
        assertThat(err(0)).contains(REMEDY);
    }

    private void cache(String name, String content, int size) throws IOException {
        Path binary = Files.createDirectories(directory.resolve(name)).resolve("consul");
        Files.writeString(binary, content);
        assertThat(binary.toFile().setExecutable(true)).isTrue();
        Files.writeString(binary.resolveSibling("consul.size"), size + "\n");
    }

    private Process offline(String cache) throws Exception {
        ProcessBuilder script = script(cache, 0);
        // a port that nobody listens on
        String proxy = "http://127.0.0.1:" + FreePorts.find(1).get(0);
        script.environment().put("http_proxy", proxy);
        script.environment().put("https_proxy", proxy);
        Process process = script.start();
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return process;
    }

    private ProcessBuilder script(String cache, int run) {
        ProcessBuilder builder = new ProcessBuilder(find().toString());
        builder.environment().put("RINGFENCE_CACHE", directory.resolve(cache).toString());
        return builder.redirectOutput(file("out", run)).redirectError(file("err", run));
    }

    private static Path find() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at.resolve(".ci/consul"))) {
                return at.resolve(".ci/consul");
            }
        }
        throw new AssertionError("no directory above has .ci/consul");
    }

    private String out(int run) throws IOException {
        return Files.readString(file("out", run).toPath());
    }

    private String err(int run) throws IOException {
        return Files.readString(file("err", run).toPath());
    }

    private File file(String kind, int run) {
        return directory.resolve(kind + "-" + run).toFile();
    }
}
