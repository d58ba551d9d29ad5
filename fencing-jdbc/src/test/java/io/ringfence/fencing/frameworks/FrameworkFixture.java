package io.ringfence.fencing.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.Sql;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A framework over a fenced data source, over a pool so small that a lost connection is missed at once. */
@ExtendWith(SharedServers.class)
abstract class FrameworkFixture {
    private static final int POOLED = 2;
    private static final String OF_THE_POOL =
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'pooled' ORDER BY backend_start, pid";

    final FakeLease older = FakeLease.of(4);
    final FakeLease newer = FakeLease.of(7);

    /** What the leader's process knows of its lease. */
    final AtomicReference<FakeLease> lease = new AtomicReference<>(older);

    PostgresDatabase database;
    HikariDataSource pool;
    Framework framework;

    /** Starts the framework. */
    abstract Framework over(DataSource dataSource);

    @BeforeEach
    void start(PostgresDatabase fresh) throws SQLException {
        database = fresh;
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE invoice (id int PRIMARY KEY, status text, cancels int REFERENCES invoice"
                        + " DEFERRABLE INITIALLY DEFERRED)",
                FenceSchema.postgres().tokenColumn("invoice"),
                "INSERT INTO invoice (id, status, fencing_token) VALUES (1, 'open', 0), (2, 'open', 9)");
        raise(older);
        restart("");
    }

    /** Starts again with other settings of the driver. */
    final void restart(String settings) {
        stop();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl() + "?ApplicationName=pooled&" + settings);
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(POOLED);
        config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
        pool = new HikariDataSource(config);
        framework = over(fenced());
    }

    final DataSource fenced() {
        return FencedDataSource.of(pool, fence(), lease::get);
    }

    @AfterEach
    void stop() {
        if (framework != null) {
            framework.close();
            pool.close();
        }
    }

    private ResourceFence fence() {
        return ResourceFence.on(database.dataSource(), "invoices");
    }

    /** Another process leads. */
    final void raise(FakeLease by) {
        try {
            fence().raise(by);
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns all invoices as they are committed. */
    final List<String> committed() {
        return query("SELECT id, status FROM invoice ORDER BY id");
    }

    private List<String> query(String sql) {
        try {
            return Sql.rows(database.dataSource(), sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the server's processes behind the pool, when it is full. */
    final List<String> backends() {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> query(OF_THE_POOL), pids -> pids.size() == POOLED);
    }

    final void expectNoConnectionInUse() {
        assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                .as("connections that were not given back")
                .isZero();
        assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isLessThanOrEqualTo(POOLED);
        assertThat(query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pooled' AND state <> 'idle'"))
                .as("transactions that were left open")
                .containsExactly("0");
    }
}
