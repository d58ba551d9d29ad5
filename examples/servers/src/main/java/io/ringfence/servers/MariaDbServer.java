package io.ringfence.servers;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A MariaDB server of its own for tests and examples.
 *
 * <p>A local process, or with {@code -Dringfence.backends=docker} a container. The process runs the {@code mariadbd}
 * that {@code -Dmariadb.bin} or {@code MARIADB_BIN} names, else the one that Maven brings (for Linux on x86-64; it is
 * unpacked once into the cache directory), else one on the {@code PATH}. It listens on a free port of the loopback
 * interface, checks passwords, takes a hundred connections, and keeps its data below the build directory until
 * {@link #close()}. It does not sync to disk: what it committed survives the death of a client, not that of the machine.
 * It dies with this JVM, but outlives it if the JVM is killed with SIGKILL.
 *
 * <p>Thread-safe.
 */
public final class MariaDbServer implements AutoCloseable {

    private final MariaDbProcess process;
    private final MariaDbDatabase database;
    private final AtomicInteger databases = new AtomicInteger();

    private MariaDbServer(MariaDbProcess process) {
        this.process = process;
        this.database = process.database();
    }

    /**
     * Starts a server and waits until it takes connections: two to three seconds, ten the first time on a machine.
     *
     * @throws IllegalStateException if there is no mariadbd executable, or the server does not start
     */
    public static MariaDbServer start() {
        return new MariaDbServer(
                Backends.current() == Backends.DOCKER ? MariaDbContainer.start() : MariaDbLocal.start());
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
     * Returns the process id.
     *
     * @throws UnsupportedOperationException if the server runs in a container
     */
    public long pid() {
        return process.pid();
    }

    /** Creates an empty database that nobody else uses. It goes when the server is closed. */
    public MariaDbDatabase createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException("MariaDB did not create " + name + ": " + e.getMessage(), e);
        }
        return database.named(name);
    }

    /** Stops the server and deletes its data. */
    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return "MariaDbServer[" + jdbcUrl() + "]";
    }
}
