package io.ringfence.fencing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Lease;
import io.ringfence.servers.PostgresDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A small pool with a fence around it, over a table {@code t (id, v)} of one row; the lease is what the test says. */
final class FencedPool implements AutoCloseable {
    final DataSource plain;
    final HikariDataSource pool;
    final ResourceFence fence;
    final AtomicReference<@Nullable Lease> lease = new AtomicReference<>();
    final FencedDataSource fenced;

    private FencedPool(PostgresDatabase database, SealMode mode, String parameters) throws SQLException {
        plain = database.dataSource();
        Sql.execute(
                plain,
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE t (id int PRIMARY KEY, v int)",
                FenceSchema.postgres().tokenColumn("t"),
                "INSERT INTO t VALUES (1, 0)",
                "CREATE FUNCTION write(value int) RETURNS int LANGUAGE sql AS 'UPDATE t SET v = value RETURNING v'");
        HikariConfig config = new HikariConfig();
        String url = database.jdbcUrl();
        config.setJdbcUrl(parameters.isEmpty() ? url : url + (url.contains("?") ? "&" : "?") + parameters);
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(10_000);
        pool = new HikariDataSource(config);
        fence = ResourceFence.on(plain, "t").sealMode(mode);
        fenced = FencedDataSource.of(pool, fence, lease::get);
    }

    static FencedPool of(PostgresDatabase database) throws SQLException {
        return of(database, SealMode.WITH_COMMIT, "");
    }

    static FencedPool of(PostgresDatabase database, SealMode mode, String parameters) throws SQLException {
        return new FencedPool(database, mode, parameters);
    }

    /** Makes this the leader's pool: the lease is held, and the fence raised to it. */
    FakeLease lead(long token) throws SQLException {
        FakeLease next = FakeLease.of(token);
        raise(next);
        lease.set(next);
        return next;
    }

    /** Another process takes over. */
    void raise(Lease newer) throws SQLException {
        try {
            fence.raise(newer);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    Connection transaction() throws SQLException {
        Connection connection = fenced.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Returns what is committed in the row with id 1. */
    String value() throws SQLException {
        return Sql.one(plain, "SELECT v FROM t WHERE id = 1");
    }

    static void write(Connection connection, int value) throws SQLException {
        Sql.execute(connection, "UPDATE t SET v = " + value + " WHERE id = 1");
    }

    @Override
    public void close() {
        pool.close();
    }
}
