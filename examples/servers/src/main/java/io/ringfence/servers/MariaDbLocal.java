package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

/** A MariaDB as a local process that dies with this JVM. */
final class MariaDbLocal implements MariaDbProcess {

    private static final int START_ATTEMPTS = 3;
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int VALID_SECONDS = 5;

    private final OsProcess process;
    private final MariaDbDatabase database;
    private final Path directory;

    private MariaDbLocal(OsProcess process, MariaDbDatabase database, Path directory) {
        this.process = process;
        this.database = database;
        this.directory = directory;
    }

    static MariaDbLocal start() {
        return start(MariaDbBinaries.current());
    }

    static MariaDbLocal start(MariaDbBinary binary) {
        for (int attempt = 1; ; attempt++) {
            Path directory = Directories.create("mariadb");
            try {
                return start(binary, directory);
            } catch (IOException | UncheckedIOException e) {
                String tail = Directories.tail(MariaDbHome.log(directory));
                if (attempt == START_ATTEMPTS || !tail.contains("Address already in use")) {
                    throw new IllegalStateException("MariaDB did not start: " + e.getMessage() + tail, e);
                }
            }
        }
    }

    private static MariaDbLocal start(MariaDbBinary binary, Path directory) throws IOException {
        String password = UUID.randomUUID().toString();
        MariaDbHome home = new MariaDbHome(binary, directory);
        home.create(password);
        int port = FreePorts.find(1).get(0);
        MariaDbDatabase database =
                new MariaDbDatabase("127.0.0.1", port, MariaDbHome.DATABASE, MariaDbHome.USER, password);
        OsProcess process = OsProcess.start(home.serverOn(port));
        try {
            awaitUsable(process, database);
        } catch (IOException | RuntimeException e) {
            process.kill();
            throw e;
        }
        return new MariaDbLocal(process, database, directory);
    }

    private static void awaitUsable(OsProcess process, MariaDbDatabase database) throws IOException {
        long start = System.nanoTime();
        while (!process.awaitExit(POLL)) {
            try (Connection connection = database.dataSource().getConnection()) {
                if (connection.isValid(VALID_SECONDS)) {
                    return;
                }
            } catch (SQLException e) {
                if (System.nanoTime() - start > START.toNanos()) {
                    throw new IOException("not usable after " + START.toSeconds() + " s: " + e.getMessage(), e);
                }
            }
        }
        throw new IOException("exit status " + process.process().exitValue());
    }

    @Override
    public MariaDbDatabase database() {
        return database;
    }

    @Override
    public long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.kill(); // its data goes anyway, so it need not write it down first
        Directories.delete(directory);
    }
}
