package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A PostgreSQL server of its own for tests and examples.
 *
 * <p>A local process from binaries that Maven brings, or with {@code -Dringfence.backends=docker} a container. It
 * listens on a free port of the loopback interface, checks passwords, takes a hundred connections, and keeps its data
 * below the build directory until {@link #close()}. It does not sync to disk: what it committed survives the death of
 * a client or of the server, not that of the machine.
 *
 * <p>Thread-safe.
 */
public final class PostgresServer implements AutoCloseable {

    private final PostgresProcess process;
    private final PostgresDatabase database;
    private final AtomicInteger databases = new AtomicInteger();

    private PostgresServer(PostgresProcess process) {
        this.process = process;
        this.database = process.database();
    }

    /**
     * Starts a server and waits until it takes connections: two to three seconds, six the first time on a machine.
     *
     * @throws IllegalStateException if the server does not start
     */
    public static PostgresServer start() {
        return start(Map.of());
    }

    /**
     * Starts a server with settings of its own, as {@link #start()} does.
     *
     * @param settings by name, as in {@code postgresql.conf}
     * @throws IllegalStateException if the server does not start
     */
    public static PostgresServer start(Map<String, String> settings) {
        return new PostgresServer(
                Backends.current() == Backends.DOCKER
                        ? PostgresContainer.start(settings)
                        : PostgresLocal.start(settings));
    }

    /** Returns the JDBC URL of the database that exists from the start, without credentials. */
    public String jdbcUrl() {
        return database.jdbcUrl();
    }

    /** Returns the superuser's name. */
    public String user() {
        return database.user();
    }

    /** Returns the superuser's password, which the server checks. */
    public String password() {
        return database.password();
    }

    /** Returns a source of plain superuser connections to the database that exists from the start. */
    public DataSource dataSource() {
        return database.dataSource();
    }

    /** Returns the port. */
    public int port() {
        return database.port();
    }

    /**
     * Returns the process id of the postmaster.
     *
     * @throws UnsupportedOperationException if the server runs in a container
     */
    public long pid() {
        try {
            return process.pid();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates an empty database that nobody else uses. It goes when the server is closed. */
    public PostgresDatabase createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL did not create " + name + ": " + e.getMessage(), e);
        }
        return database.named(name);
    }

    /**
     * Kills the server, the postmaster and all its children, with SIGKILL and waits for their death. Its data stays, less
     * what only they held in memory.
     *
     * @throws UnsupportedOperationException if the server runs in a container
     */
    public void kill() {
        process.kill();
    }

    /**
     * Starts a killed server again with the same port and data, and waits until it has recovered and takes connections.
     *
     * @throws IllegalStateException if the server does not start
     * @throws UnsupportedOperationException if the server runs in a container
     */
    public void restart() {
        process.restart();
    }

    /** Stops the server and deletes its data. */
    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return "PostgresServer[" + jdbcUrl() + "]";
    }
}
