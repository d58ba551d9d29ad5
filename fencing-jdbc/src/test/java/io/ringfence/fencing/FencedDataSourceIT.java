package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions and single statements through a fenced pool, of a leader, a former leader, and a follower. */
@ExtendWith(SharedServers.class)
class FencedDataSourceIT {
    private PostgresDatabase database;
    private FencedPool db;

    @BeforeEach
    void pool(PostgresDatabase fresh) throws SQLException {
        database = fresh;
        db = FencedPool.of(fresh);
        db.lead(7);
    }

    @AfterEach
    void close() {
        assertThat(db.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        db.close();
    }

    @Test
    void commitsTheTransactionOfTheLeader() throws SQLException {
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 1);
            connection.commit();
            FencedPool.write(connection, 2);
            connection.commit();
        }

        assertThat(db.value()).isEqualTo("2");
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void refusesTheCommitOfAFormerLeader_andItStaysRefused(SealMode mode) throws SQLException {
        FencedDataSource fenced = FencedDataSource.of(db.pool, db.fence.sealMode(mode), db.lease::get);
        try (Connection connection = fenced.getConnection()) {
            connection.setAutoCommit(false);
            FencedPool.write(connection, 1);
            db.raise(FakeLease.of(8));

            FencedOutException refusal = catchThrowableOfType(FencedOutException.class, connection::commit);
            assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
            assertThat(refusal.observed()).hasValue(8);
            connection.commit();
            connection.setAutoCommit(true);
        }

        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void theSameTransactionOnThePlainPoolCommits() throws SQLException {
        try (Connection connection = db.pool.getConnection()) {
            connection.setAutoCommit(false);
            FencedPool.write(connection, 1);
            db.raise(FakeLease.of(8));
            connection.commit();
        }

        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void refusesTheCommit_whenTheLeaseWasLostAndWonAgainMeanwhile() throws SQLException {
        try (Connection connection = db.transaction()) {
            int read = Integer.parseInt(Sql.rows(connection, "SELECT v FROM t").get(0));
            anotherLeaderWritesAndWeWinAgain();
            FencedPool.write(connection, read + 1);

            assertThatThrownBy(connection::commit).isInstanceOf(FencedOutException.class);
        }

        assertThat(db.value()).isEqualTo("10");
    }

    @Test
    void aTokenThatIsAskedForAtTheCommitLosesAnUpdate() throws SQLException {
        try (Connection connection = db.pool.getConnection()) {
            connection.setAutoCommit(false);
            int read = Integer.parseInt(Sql.rows(connection, "SELECT v FROM t").get(0));
            FakeLease again = anotherLeaderWritesAndWeWinAgain();
            FencedPool.write(connection, read + 1);
            long token = again.requireToken().value();
            Sql.execute(connection, "SELECT ringfence_seal_v1('t', 'invoices', " + token + ")");
            connection.commit();
        }

        assertThat(db.value()).isEqualTo("1");
    }

    private FakeLease anotherLeaderWritesAndWeWinAgain() throws SQLException {
        db.raise(FakeLease.of(8));
        Sql.execute(db.plain, "UPDATE t SET v = 10");
        return db.lead(9);
    }

    @Test
    void refusesTheCommit_whenNothingWasRaised() throws SQLException {
        db.lease.set(FakeLease.of(9));
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 1);

            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.NOT_RAISED));
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void sealsEachStatementInAutoCommitMode() throws SQLException {
        try (Connection connection = db.fenced.getConnection()) {
            assertThat(connection.getAutoCommit()).isTrue();
            FencedPool.write(connection, 1);
            assertThat(db.value()).isEqualTo("1");
            db.raise(FakeLease.of(8));

            assertThatThrownBy(() -> FencedPool.write(connection, 2)).isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> Sql.rows(connection, "SELECT write(3)")).isInstanceOf(FencedOutException.class);
            db.lead(9);
            assertThat(Sql.rows(connection, "SELECT write(4)")).containsExactly("4");
        }
        assertThat(db.value()).isEqualTo("4");
    }

    @Test
    void aBatchInAutoCommitModeIsOneTransaction() throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement batch = connection.createStatement()) {
            batch.addBatch("INSERT INTO t VALUES (2, 2)");
            batch.addBatch("INSERT INTO t VALUES (1, 1)");

            assertThatThrownBy(batch::executeBatch)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        }
        assertThat(Sql.one(db.plain, "SELECT count(*) FROM t")).isEqualTo("1");
    }

    @Test
    void aFollowerReads_andItsWritesAreRefused() throws SQLException {
        db.lease.set(null);
        try (Connection connection = db.fenced.getConnection()) {
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
            assertThatThrownBy(() -> FencedPool.write(connection, 1))
                    .isInstanceOf(NoLeaseException.class)
                    .hasMessageContaining("this process holds no lease")
                    .hasMessageContaining("UPDATE");
            assertThatThrownBy(() -> Sql.rows(connection, "SELECT write(1)")).isInstanceOf(NoLeaseException.class);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> FencedPool.write(connection, 1)).isInstanceOf(NoLeaseException.class);
            connection.rollback();
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
            connection.commit();
            db.lead(8);
            FencedPool.write(connection, 2);
            connection.commit();
        }
        assertThat(db.value()).isEqualTo("2");
    }

    @Test
    void aLostLeaseIsNoLease() throws SQLException {
        db.lead(8).lose();
        try (Connection connection = db.fenced.getConnection()) {
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
            assertThatThrownBy(() -> FencedPool.write(connection, 1))
                    .isInstanceOf(NoLeaseException.class)
                    .hasMessageContaining("the lease is lost");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET TRANSACTION READ WRITE",
                "SET transaction_read_only = off",
                "SET LOCAL transaction_read_only TO off",
                "SELECT set_config('transaction_read_only', 'off', true)",
                "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
                "SET default_transaction_read_only = off",
                "RESET ALL",
                "SAVEPOINT s; ROLLBACK TO s",
            })
    void aFollowerCannotMakeItsTransactionWrite(String sql) throws SQLException {
        db.lease.set(null);
        try (Connection connection = db.transaction();
                Statement statement = connection.createStatement()) {
            try {
                statement.execute(sql);
            } catch (SQLException refused) {
                connection.rollback();
            }
            assertThatThrownBy(() -> FencedPool.write(connection, 1)).isInstanceOf(NoLeaseException.class);
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COMMIT",
                "commit; UPDATE t SET v = 5",
                "UPDATE t SET v = 5; commit and chain",
                "END",
                "ABORT",
                "BEGIN",
                "START TRANSACTION",
                "PREPARE TRANSACTION 'x'",
                "ROLLBACK",
                "{fn commit}",
            })
    void refusesTransactionControlInSql(String sql) throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement statement = connection.createStatement()) {
            for (boolean autoCommit : new boolean[] {true, false}) {
                connection.setAutoCommit(autoCommit);
                assertThatThrownBy(() -> statement.execute(sql)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> statement.executeUpdate(sql)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> statement.addBatch(sql)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> connection.prepareStatement(sql)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> connection.prepareCall(sql)).isInstanceOf(IllegalStateException.class);
            }
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void aProcedureCannotCommitEither() throws SQLException {
        Sql.execute(
                db.plain,
                "CREATE PROCEDURE commits() LANGUAGE plpgsql AS 'BEGIN UPDATE t SET v = 5; COMMIT; UPDATE t SET v = 6; END'");
        try (Connection connection = db.fenced.getConnection()) {
            assertThatThrownBy(() -> Sql.execute(connection, "CALL commits()"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("2D000"));
            assertThatThrownBy(() -> Sql.execute(connection, "DO 'BEGIN UPDATE t SET v = 5; COMMIT; END'"))
                    .isInstanceOf(SQLException.class);
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void setAutoCommitInATransactionCommitsThroughTheSeal() throws SQLException {
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 1);
            connection.setAutoCommit(true);
            assertThat(db.value()).isEqualTo("1");

            connection.setAutoCommit(false);
            FencedPool.write(connection, 2);
            db.raise(FakeLease.of(8));
            assertThatThrownBy(() -> connection.setAutoCommit(true)).isInstanceOf(FencedOutException.class);
            assertThat(connection.getAutoCommit()).isFalse();
            connection.setAutoCommit(true);
        }
        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void rollbackAndSavepointsWork() throws SQLException {
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 1);
            connection.rollback();
            FencedPool.write(connection, 2);
            Savepoint savepoint = connection.setSavepoint("here");
            FencedPool.write(connection, 3);
            connection.rollback(savepoint);
            connection.releaseSavepoint(savepoint);
            connection.commit();
        }
        assertThat(db.value()).isEqualTo("2");
    }

    @Test
    void aSavepointMayComeFirst() throws SQLException {
        db.lease.set(null);
        try (Connection connection = db.transaction()) {
            Savepoint savepoint = connection.setSavepoint();
            assertThatThrownBy(() -> FencedPool.write(connection, 3)).isInstanceOf(NoLeaseException.class);
            connection.rollback(savepoint);
            assertThatThrownBy(() -> FencedPool.write(connection, 3)).isInstanceOf(NoLeaseException.class);
        }
    }

    @Test
    void closeRollsBack_andGivesTheConnectionBackAsItWas() throws SQLException {
        for (int i = 0; i < 6; i++) {
            try (Connection connection = db.transaction()) {
                FencedPool.write(connection, 1);
            }
        }
        assertThat(db.value()).isEqualTo("0");
        try (Connection plain = db.pool.getConnection()) {
            assertThat(plain.getAutoCommit()).isTrue();
        }
        assertThat(Sql.one(
                        db.plain,
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
                                + " AND datname = current_database()"))
                .isEqualTo("0");
    }

    @Test
    void callsThatNeedATransactionSaySo_inAutoCommitMode() throws SQLException {
        try (Connection connection = db.fenced.getConnection()) {
            assertThatThrownBy(connection::commit).hasMessageContaining("auto-commit");
            assertThatThrownBy(connection::rollback).hasMessageContaining("auto-commit");
            assertThatThrownBy(connection::setSavepoint).hasMessageContaining("auto-commit");
        }
    }

    @Test
    void readsAllRowsBeforeTheCommit_whateverTheFetchSize() throws SQLException {
        Sql.execute(db.plain, "INSERT INTO t SELECT i, i FROM generate_series(2, 50) i");
        try (Connection connection = db.fenced.getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT id FROM t ORDER BY id")) {
            statement.setFetchSize(1);
            try (ResultSet rows = statement.executeQuery()) {
                assertThat(statement.getFetchSize()).isEqualTo(1);
                for (int i = 1; i <= 50; i++) {
                    assertThat(rows.next()).isTrue();
                    assertThat(rows.getInt(1)).isEqualTo(i);
                }
                assertThat(rows.next()).isFalse();
            }
        }
    }

    @Test
    void aCursorWorksInATransaction() throws SQLException {
        Sql.execute(db.plain, "INSERT INTO t SELECT i, i FROM generate_series(2, 50) i");
        try (Connection connection = db.transaction();
                Statement statement = connection.createStatement()) {
            statement.setFetchSize(7);
            int count = 0;
            try (ResultSet rows = statement.executeQuery("SELECT id FROM t")) {
                while (rows.next()) {
                    count++;
                }
            }
            connection.commit();
            assertThat(count).isEqualTo(50);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "autosave=always",
                "autosave=conservative",
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "preferQueryMode=extendedCacheEverything",
                "prepareThreshold=1",
                "prepareThreshold=-1",
                "defaultRowFetchSize=1",
                "readOnlyMode=ignore",
                "readOnlyMode=always",
            })
    void holdsWithAnySettingOfTheDriver(String parameter) throws SQLException {
        db.close();
        Sql.execute(
                db.plain,
                "DROP TABLE t CASCADE",
                "DROP FUNCTION write",
                FenceSchema.postgres().dropFence());
        db = FencedPool.of(database, SealMode.WITH_COMMIT, parameter);
        for (int round = 1; round <= 8; round++) {
            db.lead(10L * round);
            try (Connection connection = db.fenced.getConnection()) {
                connection.setReadOnly(round % 3 == 0);
                connection.setReadOnly(false);
                FencedPool.write(connection, round);
                connection.setAutoCommit(false);
                FencedPool.write(connection, round + 100);
                connection.commit();
                FencedPool.write(connection, -1);
                db.raise(FakeLease.of(10L * round + 1));
                assertThatThrownBy(connection::commit).isInstanceOf(FencedOutException.class);
                connection.setAutoCommit(true);
                assertThatThrownBy(() -> FencedPool.write(connection, -2)).isInstanceOf(FencedOutException.class);
                db.lease.set(null);
                assertThatThrownBy(() -> FencedPool.write(connection, -3)).isInstanceOf(NoLeaseException.class);
            }
            assertThat(db.value()).isEqualTo(String.valueOf(round + 100));
        }
    }
}
