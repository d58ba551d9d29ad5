package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.FencingToken;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** When seal and COMMIT go as one message, and when they do not. The driver writes COMMIT, and our message commit. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class SealWithCommitIT {
    private static final String ONE_MESSAGE = "commit";
    private static final String APART = "COMMIT";

    private final FakeLease lease = FakeLease.of(7);
    private PostgresDatabase database;

    @BeforeEach
    void tables(PostgresDatabase fresh) throws SQLException, InterruptedException {
        database = fresh;
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE t (v int)");
        ResourceFence.on(database.dataSource(), "t").raise(lease);
    }

    private PGSimpleDataSource configured(String settings) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.jdbcUrl() + "?" + settings);
        source.setUser(database.user());
        source.setPassword(database.password());
        return source;
    }

    private String rows() throws SQLException {
        return Sql.one(database.dataSource(), "SELECT count(*) FROM t");
    }

    private static void insert(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (1)")) {
            insert.executeUpdate();
        }
    }

    /** Returns the last statement of the session that the pool keeps open. */
    private String lastStatement(String application) throws SQLException {
        return Sql.one(
                database.dataSource(),
                "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = '"
                        + application + "'");
    }

    private String lastStatement(SealMode mode, String settings) throws SQLException {
        try (Connection kept = configured(settings + "&ApplicationName=kept").getConnection()) {
            DataSource one = new KeptOpen(kept, new AtomicInteger()).dataSource();
            ResourceFence.on(one, "t").sealMode(mode).useTransaction(lease, SealWithCommitIT::insert);
            return lastStatement("kept");
        }
    }

    @Test
    void goesAsOneMessage_whereTheDriverCan() throws SQLException {
        assertThat(lastStatement(SealMode.WITH_COMMIT, "")).isEqualTo(ONE_MESSAGE);
        assertThat(lastStatement(SealMode.WITH_COMMIT, "prepareThreshold=1&defaultRowFetchSize=1"))
                .isEqualTo(ONE_MESSAGE);
        assertThat(lastStatement(SealMode.WITH_COMMIT, "preferQueryMode=simple"))
                .isEqualTo(APART);
        assertThat(lastStatement(SealMode.SEPARATE, "")).isEqualTo(APART);
        assertThat(lastStatement(SealMode.TABLE, "")).isEqualTo(APART);
        assertThat(rows()).isEqualTo("5");
    }

    @Test
    void goesThroughAPool_thatSeesOneCommitAndNothingToCleanUp() throws Exception {
        AtomicInteger commits = new AtomicInteger();
        AtomicInteger rollbacks = new AtomicInteger();
        DataSource counted = Wrapped.before(
                Wrapped.before(configured("ApplicationName=pooled"), "commit", commits::incrementAndGet),
                "rollback",
                rollbacks::incrementAndGet);
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(counted);
            pool.setMaximumPoolSize(1);
            ResourceFence fence = ResourceFence.on(pool, "t");
            assertThat(fence.sealMode()).isEqualTo(SealMode.WITH_COMMIT);

            for (int i = 1; i <= 8; i++) {
                fence.useTransaction(lease, SealWithCommitIT::insert);
                assertThat(lastStatement("pooled")).isEqualTo(ONE_MESSAGE);
                assertThat(commits).hasValue(i);
            }
            assertThat(rollbacks).hasValue(0);
            assertThatThrownBy(() -> fence.useTransaction(new FencingToken(6), SealWithCommitIT::insert))
                    .isInstanceOf(FencedOutException.class);
            assertThat(rollbacks).hasValue(1);
            assertThat(commits).hasValue(8);
        }
        assertThat(rows()).isEqualTo("8");
    }

    /** Without a statement before, the message would begin with BEGIN; nothing is lost by sending it apart. */
    @Test
    void isStillCompared_whenTheWorkRanNothing() throws SQLException {
        ResourceFence fence = ResourceFence.on(database.dataSource(), "t");

        fence.useTransaction(lease, connection -> {});

        assertThatThrownBy(() -> fence.useTransaction(new FencingToken(6), connection -> {}))
                .isInstanceOf(FencedOutException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"autosave=never", "autosave=always", "autosave=conservative"})
    void isNotCommitted_andCanRunAgain_whenPreparedStatementsVanish(String autosave) throws SQLException {
        try (Connection kept = configured(autosave + "&prepareThreshold=1").getConnection()) {
            ResourceFence fence = ResourceFence.on(new KeptOpen(kept, new AtomicInteger()).dataSource(), "t");
            for (int i = 0; i < 3; i++) {
                fence.useTransaction(lease, connection -> Sql.execute(connection, "INSERT INTO t VALUES (1)"));
            }

            assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                        // as a pooler does it: the driver does not notice
                        Sql.execute(
                                connection, "INSERT INTO t VALUES (2)", "DO 'BEGIN EXECUTE ''DEALLOCATE ALL''; END'");
                    }))
                    .isInstanceOfSatisfying(
                            SQLTransactionRollbackException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo("26000"));
            kept.setAutoCommit(false);
            kept.commit();
            kept.setAutoCommit(true);
            assertThat(rows()).isEqualTo("3");
        }
    }

    @Test
    void aCommittedTransactionIsASuccess_whateverItsConnectionDoesNext() throws SQLException {
        DataSource failing = Wrapped.before(database.dataSource(), "commit", () -> {
            throw new IllegalStateException("broken");
        });

        ResourceFence.on(failing, "t").useTransaction(lease, SealWithCommitIT::insert);

        assertThat(rows()).isEqualTo("1");
    }

    @Test
    void goesApart_whereTheDriversClassesAreNotInReach() throws Exception {
        Class<?> type = new WithoutDriver().loadClass("io.ringfence.fencing.ResourceFence");
        Object fence = type.getMethod("on", DataSource.class, String.class, String[].class)
                .invoke(null, database.dataSource(), "t", new String[0]);

        assertThat(type.getMethod("sealMode").invoke(fence)).hasToString("SEPARATE");
        Class<?> action = Class.forName("io.ringfence.fencing.ResourceFence$Action", false, type.getClassLoader());
        Object insert = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {action}, (p, m, a) -> {
            insert((Connection) a[0]);
            return null;
        });
        type.getMethod("useTransaction", io.ringfence.election.FencingTokenSource.class, action)
                .invoke(fence, lease, insert);
        assertThat(rows()).isEqualTo("1");
        assertThat(ResourceFence.on(database.dataSource(), "t").sealMode()).isEqualTo(SealMode.WITH_COMMIT);
    }

    /** Defines the fencing classes again, as an application does whose server keeps the driver to itself. */
    private static final class WithoutDriver extends ClassLoader {

        WithoutDriver() {
            super(SealWithCommitIT.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.postgresql.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("io.ringfence.fencing.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
