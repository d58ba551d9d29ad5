package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The fence with the driver's settings that change how transactions end, with a pool, and with connections that break. */
@ExtendWith(SharedServers.class)
class ResourceFenceDriverIT {
    private PostgresDatabase database;

    @BeforeEach
    void tables(PostgresDatabase fresh) throws SQLException, InterruptedException {
        database = fresh;
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE t (id int PRIMARY KEY, v int)",
                FenceSchema.postgres().tokenColumn("t"),
                "INSERT INTO t VALUES (1, 0, 0), (2, 0, 99)");
        ResourceFence.on(database.dataSource(), "t").raise(FakeLease.of(1));
    }

    private static final List<String> SETTINGS = List.of(
            "autosave=never",
            "autosave=always",
            "autosave=conservative",
            "autosave=always&cleanupSavepoints=true",
            "preferQueryMode=simple",
            "preferQueryMode=simple&autosave=always",
            "preferQueryMode=extended",
            "preferQueryMode=extendedForPrepared",
            "preferQueryMode=extendedCacheEverything",
            "prepareThreshold=-1",
            "prepareThreshold=0",
            "prepareThreshold=1",
            "prepareThreshold=5",
            "defaultRowFetchSize=1");

    static Stream<Arguments> settingsAndModes() {
        return SETTINGS.stream()
                .flatMap(settings -> Stream.of(SealMode.values()).map(mode -> Arguments.of(settings, mode)));
    }

    private PGSimpleDataSource configured(String settings) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.jdbcUrl() + "?" + settings);
        source.setUser(database.user());
        source.setPassword(database.password());
        return source;
    }

    private String value() throws SQLException {
        return Sql.one(database.dataSource(), "SELECT v FROM t WHERE id = 1");
    }

    private static void increment(Connection connection) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE t SET v = v + ? WHERE id = 1")) {
            update.setInt(1, 1);
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
    }

    /** A stale transaction stays refused on a connection that the caller goes on to use. */
    @ParameterizedTest
    @MethodSource("settingsAndModes")
    void freshCommits_andStaleStaysRefused_inEveryRound(String settings, SealMode mode) throws Exception {
        try (Connection kept = configured(settings).getConnection()) {
            AtomicInteger closed = new AtomicInteger();
            ResourceFence fence = ResourceFence.on(new KeptOpen(kept, closed).dataSource(), "t")
                    .sealMode(mode);
            boolean apart = mode == SealMode.WITH_COMMIT && settings.contains("preferQueryMode=simple");
            assertThat(fence.sealMode()).isEqualTo(apart ? SealMode.SEPARATE : mode);
            RowFence rows = RowFence.onColumn("fencing_token").key("id");
            for (int round = 1; round <= 8; round++) {
                FakeLease lease = FakeLease.of(round);
                fence.raise(lease);
                fence.useTransaction(lease, ResourceFenceDriverIT::increment);
                assertThat(value()).isEqualTo(String.valueOf(round));

                FakeLease newer = FakeLease.of(round + 1);
                assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                            increment(connection);
                            raiseElsewhere(newer);
                        }))
                        .isInstanceOf(FencedOutException.class);
                assertThatThrownBy(() -> fence.useTransaction(newer, connection -> {
                            increment(connection);
                            assertThatThrownBy(
                                            () -> rows.update(connection, newer, "UPDATE t SET v = 0 WHERE id = ?", 2))
                                    .isInstanceOf(FencedOutException.class);
                        }))
                        .isInstanceOf(FencedOutException.class);
                assertThat(kept.getAutoCommit()).isTrue();
                kept.setAutoCommit(false);
                kept.commit();
                kept.setAutoCommit(true);
                assertThat(value()).isEqualTo(String.valueOf(round));
            }
            assertThat(closed).hasValue(1 + 8 * 4);
        }
    }

    private void raiseElsewhere(FakeLease lease) throws SQLException {
        try {
            ResourceFence.on(database.dataSource(), "t").raise(lease);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void connectionsGoBackToThePoolClean() throws Exception {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(database.dataSource());
            pool.setMaximumPoolSize(2);
            pool.setConnectionTimeout(2_000);
            pool.setAutoCommit(true);
            ResourceFence fence = ResourceFence.on(pool, "t");
            FakeLease lease = FakeLease.of(1);
            List<String> sessions = Sql.rows(pool, "SELECT pg_backend_pid()");
            for (int i = 0; i < 10; i++) {
                fence.useTransaction(lease, ResourceFenceDriverIT::increment);
                assertThatThrownBy(() -> fence.useTransaction(lease, c -> Sql.execute(c, "SELECT 1 / 0")))
                        .isInstanceOf(SQLException.class);
                assertThatThrownBy(() -> fence.useTransaction(FakeLease.of(9), ResourceFenceDriverIT::increment))
                        .isInstanceOf(FencedOutException.class);
                fence.raise(lease);
            }
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            assertThat(Sql.rows(
                            database.dataSource(),
                            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid = "
                                    + sessions.get(0) + " AND state = 'idle'"))
                    .as("the first session is still in use")
                    .hasSize(1);
        }
        assertThat(value()).isEqualTo("10");
    }

    @ParameterizedTest
    @EnumSource
    void theOutcomeIsUnknown_whenTheBackendIsEndedDuringCommit(SealMode mode) throws Exception {
        Sql.execute(
                database.dataSource(),
                "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'",
                "CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW EXECUTE FUNCTION slow()");
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            ResourceFence fence = ResourceFence.on(database.dataSource(), "t").sealMode(mode);
            Future<?> commit = executor.submit(() -> {
                fence.useTransaction(FakeLease.of(1), ResourceFenceDriverIT::increment);
                return null;
            });
            Awaitility.await()
                    .until(() -> Sql.rows(
                                            database.dataSource(),
                                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE lower(query) = 'commit'"
                                                    + " AND state = 'active' AND datname = current_database()")
                                    .size()
                            == 1);
            assertThatThrownBy(() -> commit.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(CommitOutcomeUnknownException.class, e -> {
                        assertThat(e.resource()).isEqualTo("t");
                        assertThat(e.token().value()).isEqualTo(1);
                        assertThat(e).hasCauseInstanceOf(SQLException.class);
                    });
        } finally {
            executor.shutdownNow();
        }
        assertThat(value()).isEqualTo("0");
    }

    @Test
    void theWorksExceptionArrives_whenTheBackendIsEndedDuringTheWork() throws Exception {
        List<SQLException> thrown = new ArrayList<>();
        ResourceFence fence = ResourceFence.on(database.dataSource(), "t");

        assertThatThrownBy(() -> fence.useTransaction(FakeLease.of(1), connection -> {
                    increment(connection);
                    try {
                        Sql.execute(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
                    } catch (SQLException e) {
                        thrown.add(e);
                        throw e;
                    }
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(thrown).containsExactly(e));
        assertThat(value()).isEqualTo("0");
    }
}
