package io.ringfence.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;

/** A PostgreSQL from the binaries that Maven brought, as a local process. */
final class PostgresLocal implements PostgresProcess {

    private static final int START_ATTEMPTS = 3;
    private static final Duration START = Duration.ofSeconds(30);
    private static final String USER = "postgres";

    private final EmbeddedPostgres postgres;
    private final PostgresDatabase database;
    private final Path directory;

    private PostgresLocal(EmbeddedPostgres postgres, PostgresDatabase database, Path directory) {
        this.postgres = postgres;
        this.database = database;
        this.directory = directory;
    }

    static PostgresLocal start() {
        for (int attempt = 1; ; attempt++) {
            Path directory = Directories.create("postgres");
            Path log = directory.resolve("postgres.log");
            try {
                return start(directory, log);
            } catch (IOException | RuntimeException e) {
                String tail = Directories.tail(log);
                if (attempt == START_ATTEMPTS || !tail.contains("Address already in use")) {
                    throw new IllegalStateException("PostgreSQL did not start: " + e.getMessage() + tail, e);
                }
            }
        }
    }

    private static PostgresLocal start(Path directory, Path log) throws IOException {
        String password = UUID.randomUUID().toString();
        int port = FreePorts.find(1).get(0);
        Path passwordFile = Files.writeString(directory.resolve("password"), password);
        ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(log.toFile());
        EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                // "locale" options go to initdb as they are: these make the server check passwords from its first
                // moment
                .setLocaleConfig("pwfile", passwordFile.toString())
                .setLocaleConfig("auth", "scram-sha-256")
                .setLocaleConfig("locale", "C")
                .setConnectConfig("password", password)
                .setServerConfig("max_connections", "100")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("unix_socket_directories", "")
                .setPort(port)
                .setDataDirectory(data(directory))
                .setOutputRedirector(output)
                .setErrorRedirector(output)
                .setPGStartupWait(START)
                .start();
        PostgresDatabase database = new PostgresDatabase("127.0.0.1", port, USER, USER, password);
        return new PostgresLocal(postgres, database, directory);
    }

    @Override
    public PostgresDatabase database() {
        return database;
    }

    @Override
    public long pid() throws IOException {
        Path pidFile = data(directory).toPath().resolve("postmaster.pid");
        return Long.parseLong(Files.readAllLines(pidFile).get(0).strip());
    }

    @Override
    public void close() {
        try {
            postgres.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Directories.delete(directory);
    }

    private static File data(Path directory) {
        return directory.resolve("data").toFile();
    }
}
