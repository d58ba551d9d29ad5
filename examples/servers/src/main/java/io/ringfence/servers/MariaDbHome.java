package io.ringfence.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The directory of one MariaDB server with its data and its log, and the commands that make it and serve it. */
final class MariaDbHome {

    static final String DATABASE = "test";
    static final String USER = "root";

    private static final Duration CREATION = Duration.ofSeconds(60);

    private final MariaDbBinary binary;
    private final Path directory;

    MariaDbHome(MariaDbBinary binary, Path directory) {
        this.binary = binary;
        this.directory = directory;
    }

    static Path log(Path directory) {
        return directory.resolve("mariadb.log");
    }

    /**
     * Makes the system tables and the only user that may log in.
     *
     * @throws IOException if the server does not take the statements; the log says why
     */
    void create(String password) throws IOException {
        Files.createDirectory(data());
        Path script = Files.writeString(directory.resolve("create.sql"), script(password));
        try {
            OsProcess process = OsProcess.start(command("--bootstrap").redirectInput(script.toFile()));
            if (!process.awaitExit(CREATION)) {
                process.kill();
                throw new IOException("its system tables were not made in " + CREATION.toSeconds() + " s");
            }
            process.kill(); // it is dead; this forgets it
            if (process.process().exitValue() != 0) {
                throw new IOException("exit status " + process.process().exitValue() + " while making system tables");
            }
        } finally {
            Files.deleteIfExists(script);
        }
    }

    /** Returns the command that serves the data on a port of the loopback interface. */
    ProcessBuilder serverOn(int port) {
        return command(
                "--bind-address=127.0.0.1",
                "--port=" + port,
                "--socket=server.sock", // relative to the data: a whole path may be longer than the kernel takes
                "--pid-file=server.pid",
                "--skip-name-resolve",
                "--skip-ssl",
                "--max-connections=100",
                "--character-set-server=utf8mb4");
    }

    private ProcessBuilder command(String... more) {
        List<String> command = new ArrayList<>(List.of(
                binary.path().toString(),
                "--no-defaults",
                "--basedir=" + binary.path().resolveSibling("..").normalize(),
                "--lc-messages-dir=" + binary.share(),
                "--character-sets-dir=" + binary.share().resolve("charsets"),
                "--datadir=" + data(),
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-flush-method=nosync",
                "--innodb-doublewrite=0",
                "--innodb-buffer-pool-size=64M",
                "--innodb-log-file-size=16M",
                "--aria-pagecache-buffer-size=8M",
                "--key-buffer-size=1M",
                "--table-open-cache=400"));
        if (isOwnedByRoot()) {
            command.add("--user=root"); // it refuses to run as root unless told to
        }
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log(directory).toFile()));
    }

    private String script(String password) throws IOException {
        // one statement to a line, or up to a semicolon at a line's end, is all that the server's bootstrap reads
        return "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
                + Files.readString(binary.systemTables(""))
                + Files.readString(binary.systemTables("_data"))
                + """

                DELETE FROM global_priv WHERE User <> 'mariadb.sys';
                DELETE FROM proxies_priv;
                FLUSH PRIVILEGES;
                CREATE USER '%1$s'@'%%' IDENTIFIED BY '%2$s';
                GRANT ALL PRIVILEGES ON *.* TO '%1$s'@'%%' WITH GRANT OPTION;
                CREATE DATABASE %3$s CHARACTER SET utf8mb4;
                """.formatted(USER, password, DATABASE);
    }

    private boolean isOwnedByRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(directory, "unix:uid"));
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private Path data() {
        return directory.resolve("data");
    }
}
