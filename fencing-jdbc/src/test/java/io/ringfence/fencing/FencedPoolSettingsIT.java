package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fenced DataSource over pools that are set up in other ways, and over a network that fails. */
@ExtendWith(SharedServers.class)
class FencedPoolSettingsIT {
    private final AtomicReference<@Nullable FakeLease> lease = new AtomicReference<>();
    private final PostgresDatabase database;
    private long leaders = 1;

    FencedPoolSettingsIT(PostgresDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void tables() throws SQLException {
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE t (v int)",
                "INSERT INTO t VALUES (0)");
        lead(1);
    }

    private void lead(long token) throws SQLException {
        FakeLease next = FakeLease.of(token);
        raise(next);
        lease.set(next);
    }

    private void raise(FakeLease newer) throws SQLException {
        try {
            ResourceFence.on(database.dataSource(), "t").raise(newer);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private HikariConfig config(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(10_000);
        return config;
    }

    private FencedDataSource fenced(HikariDataSource pool, SealMode mode) {
        return FencedDataSource.of(
                pool, ResourceFence.on(database.dataSource(), "t").sealMode(mode), lease::get);
    }

    private String value() throws SQLException {
        return Sql.one(database.dataSource(), "SELECT v FROM t");
    }

    /** One transaction; auto-commit is left as the pool has it. */
    private static void write(FencedDataSource source, int value, Runnable beforeCommit) throws SQLException {
        try (Connection connection = source.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            Sql.execute(connection, "UPDATE t SET v = " + value);
            beforeCommit.run();
            connection.commit();
            connection.setAutoCommit(autoCommit);
        }
    }

    private void takeOver(FakeLease newer) {
        try {
            raise(newer);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    enum Setting {
        READ_COMMITTED(config -> config.setTransactionIsolation("TRANSACTION_READ_COMMITTED")),
        REPEATABLE_READ(config -> config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ")),
        SERIALIZABLE(config -> config.setTransactionIsolation("TRANSACTION_SERIALIZABLE")),
        NO_AUTO_COMMIT(config -> config.setAutoCommit(false)),
        INTERNAL_QUERIES_APART(config -> {
            config.setAutoCommit(false);
            config.setIsolateInternalQueries(true);
        }),
        TEST_QUERY(config -> {
            config.setAutoCommit(false);
            config.setConnectionTestQuery("SELECT v FROM t");
        }),
        INIT_SQL(config -> config.setConnectionInitSql("SET application_name = 'pooled'")),
        SCHEMA(config -> config.setSchema("public"));

        @SuppressWarnings("ImmutableEnumChecker") // it has no state
        private final Consumer<HikariConfig> change;

        Setting(Consumer<HikariConfig> change) {
            this.change = change;
        }
    }

    @ParameterizedTest
    @EnumSource
    void fencesPoolsOfEachKind(Setting setting) throws SQLException {
        HikariConfig config = config(database.jdbcUrl());
        setting.change.accept(config);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            for (SealMode mode : SealMode.values()) {
                FencedDataSource source = fenced(pool, mode);
                lead(++leaders);
                for (int i = 1; i <= 8; i++) {
                    write(source, i, () -> {});
                    assertThat(value()).as("%s", mode).isEqualTo(String.valueOf(i));
                }

                FakeLease newer = FakeLease.of(++leaders);
                Throwable refused = catchThrowable(() -> write(source, 99, () -> takeOver(newer)));
                assertThat(refused)
                        .as("%s", mode)
                        .satisfiesAnyOf(
                                e -> assertThat(e).isInstanceOf(FencedOutException.class),
                                // the snapshot is older than the raise
                                e -> assertThat(((SQLException) e).getSQLState())
                                        .isEqualTo("40001"));
                assertThat(value()).as("%s", mode).isEqualTo("8");

                lease.set(null);
                try (Connection connection = source.getConnection()) {
                    assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("8");
                    assertThatThrownBy(() -> Sql.execute(connection, "UPDATE t SET v = 99"))
                            .isInstanceOf(NoLeaseException.class);
                }
                assertThat(value()).as("%s", mode).isEqualTo("8");
            }
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @Test
    void aLeaderReadsThroughAPoolThatIsReadOnly_andItsWritesAreTheServersToRefuse() throws SQLException {
        HikariConfig config = config(database.jdbcUrl());
        config.setReadOnly(true);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            for (SealMode mode : SealMode.values()) {
                FencedDataSource source = fenced(pool, mode);
                try (Connection connection = source.getConnection()) {
                    assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
                    connection.setAutoCommit(false);
                    assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
                    connection.commit();
                }
                assertThatThrownBy(() -> write(source, 99, () -> {}))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("25006"));
            }
        }
    }

    /** The server gets the COMMIT, or does not: the caller hears that nobody can know. */
    @ParameterizedTest
    @EnumSource
    void theOutcomeIsUnknown_whenTheNetworkFailsDuringCommit_andThePoolMendsItself(SealMode mode) throws Exception {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            HikariConfig config = config("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name()
                    + "?socketTimeout=2&ApplicationName=pooled");
            try (HikariDataSource pool = new HikariDataSource(config)) {
                FencedDataSource source = fenced(pool, mode);
                write(source, 1, () -> {});

                Throwable unknown = catchThrowable(() -> write(source, 2, proxy::blackHole));

                assertThat(unknown)
                        .isInstanceOf(
                                mode == SealMode.WITH_COMMIT
                                        ? CommitOutcomeUnknownException.class
                                        : SQLException.class);
                proxy.pass();
                write(source, 3, () -> {});
                assertThat(value()).isEqualTo("3");
            }
        }
    }
}
