package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsulBinariesTest {

    @TempDir
    private Path directory;

    private final Map<String, String> environment = new HashMap<>(Map.of("PATH", "/nowhere"));

    @Test
    void takesTheProperty_beforeTheVariable_beforeThePath() throws Exception {
        Path property = executable("property", "echo Consul v1.1.0");
        Path variable = executable("variable", "echo Consul v1.2.0");
        environment.put(
                "PATH",
                "/nowhere:" + executable("bin/consul", "echo Consul v1.3.0").getParent());
        environment.put("CONSUL_BIN", variable.toString());

        assertThat(search(property.toString()).version()).isEqualTo("1.1.0");
        assertThat(search(null)).isEqualTo(new ConsulBinary(variable, "1.2.0", "CONSUL_BIN=" + variable));
        environment.remove("CONSUL_BIN");
        assertThat(search(null).version()).isEqualTo("1.3.0");
    }

    @Test
    void refusesAtOnce_whenAConfiguredPathIsWrong() throws Exception {
        executable("bin/consul", "echo Consul v1.3.0");
        environment.put("PATH", directory.resolve("bin").toString());

        assertThatThrownBy(() -> search("/no/such/consul")).hasMessageContaining("-Dconsul.bin=/no/such/consul");
        environment.put("CONSUL_BIN", "/no/such/consul");
        assertThatThrownBy(() -> search(null)).hasMessageContaining("CONSUL_BIN=/no/such/consul");
    }

    @Test
    void refusesAConfiguredFile_thatIsNoConsul() throws Exception {
        Path other = executable("other", "echo Vault v1.9.0");
        assertThatThrownBy(() -> search(other.toString()))
                .hasMessageContaining("it is no consul")
                .hasMessageContaining("Vault v1.9.0");
    }

    @Test
    void runsTheScript_ofADirectoryAbove() throws Exception {
        Path consul = executable("cache/consul", "echo Consul v1.8.7");
        executable(".ci/consul", "echo " + consul);
        assertThat(search(null)).isEqualTo(new ConsulBinary(consul, "1.8.7", consul + ", from .ci/consul"));
    }

    @Test
    void listsWhatWasTried_whyItFailed_andTheRemedy() throws Exception {
        executable(".ci/consul", "echo no mirror answers >&2; exit 1");
        assertThatThrownBy(() -> search(null))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(
                        "-Dconsul.bin: not set",
                        "CONSUL_BIN: not set",
                        "PATH: no consul in /nowhere",
                        ".ci/consul: exit status 1: no mirror answers",
                        "Docker: not asked",
                        "Install Consul");
    }

    @Test
    void goesOn_whenTheOneOnThePathDoesNotRun() throws Exception {
        executable("bin/consul", "exit 7");
        environment.put("PATH", directory.resolve("bin").toString());
        Path consul = executable("cache/consul", "echo Consul v1.8.7");
        executable(".ci/consul", "echo " + consul);
        assertThat(search(null).path()).isEqualTo(consul);
    }

    @Test
    void closesTheGrpcTlsPort_whereConsulHasOne() {
        assertThat(new ConsulBinary(directory, "1.8.7", "").hasGrpcTlsPort()).isFalse();
        assertThat(new ConsulBinary(directory, "1.16.3", "").hasGrpcTlsPort()).isTrue();
        assertThat(new ConsulBinary(directory, "2.0.0", "").hasGrpcTlsPort()).isTrue();
    }

    private ConsulBinary search(@Nullable String property) throws IOException {
        Path below = Files.createDirectories(directory.resolve("module/target"));
        return new ConsulBinaries(Backends.LOCAL, property, environment, below).search();
    }

    private Path executable(String name, String script) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }
}
