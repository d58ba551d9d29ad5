package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.io.ByteArrayInputStream;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import javax.sql.XAConnection;
import javax.sql.XADataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.PGConnection;
import org.postgresql.PGRefCursorResultSet;
import org.postgresql.PGStatement;
import org.postgresql.ds.PGSimpleDataSource;

/** What is at the edges of JDBC: no object leads past the fence, and none leaves a transaction open. */
@ExtendWith(SharedServers.class)
class FencedConnectionIT {
    private final RowFence rows = RowFence.onColumn("fencing_token").key("id");
    private FencedPool db;

    @BeforeEach
    void pool(PostgresDatabase database) throws SQLException {
        db = FencedPool.of(database);
        db.lead(7);
    }

    @AfterEach
    void close() {
        assertThat(db.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        db.close();
    }

    private void assertIdle() throws SQLException {
        assertThat(Sql.one(
                        db.plain,
                        "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
                                + " AND datname = current_database()"))
                .isEqualTo("0");
    }

    @Test
    void everyObjectLeadsToTheFencedConnection() throws SQLException {
        try (Connection connection = db.transaction();
                PreparedStatement statement = connection.prepareStatement("SELECT v FROM t");
                ResultSet result = statement.executeQuery()) {
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(result.getStatement()).isSameAs(statement);
            DatabaseMetaData metaData = connection.getMetaData();
            assertThat(metaData.getConnection()).isSameAs(connection);
            try (ResultSet tables = metaData.getTables(null, null, "t", null)) {
                assertThat(tables.next()).isTrue();
                assertThat(tables.getStatement()).isNull();
            }
            assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
            assertThat(statement.unwrap(Statement.class)).isSameAs(statement);
        }
    }

    @Test
    void theDriversConnectionIsForTransactionsOnly() throws SQLException {
        try (Connection connection = db.fenced.getConnection()) {
            assertThat(connection.isWrapperFor(PGConnection.class)).isTrue();
            assertThatThrownBy(() -> connection.unwrap(PGConnection.class)).hasMessageContaining("auto-commit");
            connection.setAutoCommit(false);
            assertThat(connection.unwrap(PGConnection.class).escapeLiteral("x")).isEqualTo("x");
            copy(connection);
            db.raise(FakeLease.of(8));
            assertThatThrownBy(connection::commit).isInstanceOf(FencedOutException.class);
        }
        assertThat(db.value()).isEqualTo("0");
    }

    private static void copy(Connection connection) throws SQLException {
        try (Statement statement = connection.unwrap(Connection.class).createStatement()) {
            statement.execute("UPDATE t SET v = 9");
        }
    }

    @Test
    void workOnTheDriversConnectionAfterTheTransactionIsRolledBack() throws SQLException {
        try (Connection connection = db.transaction()) {
            Connection driver = (Connection) connection.unwrap(PGConnection.class);
            connection.commit();
            FencedPool.write(driver, 9);

            assertThatThrownBy(connection::commit).isInstanceOf(IllegalStateException.class);
            FencedPool.write(driver, 9);
            assertThatThrownBy(() -> FencedPool.write(connection, 1)).isInstanceOf(IllegalStateException.class);
            FencedPool.write(connection, 2);
            connection.commit();
            FencedPool.write(driver, 9);
        }
        assertThat(db.value()).isEqualTo("2");
    }

    @Test
    void theDataSourceUnwraps() throws SQLException {
        assertThat(db.fenced.unwrap(HikariDataSource.class)).isSameAs(db.pool);
        assertThat(db.fenced.unwrap(DataSource.class)).isSameAs(db.fenced);
        assertThat(db.fenced.isWrapperFor(FencedDataSource.class)).isTrue();
        assertThat(db.fenced.isWrapperFor(HikariDataSource.class)).isTrue();
        assertThat(db.fenced.isWrapperFor(PGSimpleDataSource.class)).isFalse();
    }

    @Test
    void xaIsRefused() {
        assertThatThrownBy(() -> FencedDataSource.of(new XaPool(), db.fence, db.lease::get))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("XA");
        assertThatThrownBy(() -> db.fenced.unwrap(XADataSource.class)).isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> FencedDataSource.of(db.fenced, db.fence, db.lease::get))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("already");
    }

    /** A DataSource of both kinds, as some drivers have it. */
    private static final class XaPool extends PGSimpleDataSource implements XADataSource {
        private static final long serialVersionUID = 1L;

        @Override
        public XAConnection getXAConnection() {
            throw new UnsupportedOperationException();
        }

        @Override
        public XAConnection getXAConnection(String user, String password) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void questionsOfTheDriverLeaveNoTransactionOpen() throws SQLException {
        for (boolean leads : new boolean[] {true, false}) {
            db.lease.set(leads ? FakeLease.of(7) : null);
            for (boolean autoCommit : new boolean[] {true, false}) {
                try (Connection connection = db.fenced.getConnection()) {
                    connection.setAutoCommit(autoCommit);
                    assertThat(connection.isValid(5)).isTrue();
                    assertThat(connection.getSchema()).isEqualTo("public");
                    connection.setSchema("public");
                    connection.setClientInfo("ApplicationName", "app");
                    assertThat(connection.getClientInfo("ApplicationName")).isEqualTo("app");
                    assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
                    connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                    connection.createArrayOf("text", new Object[] {"a"}).free();
                    assertThat(connection
                                    .prepareStatement("SELECT v FROM t WHERE id = ?")
                                    .getParameterMetaData()
                                    .getParameterCount())
                            .isEqualTo(1);
                    connection.getMetaData().getPrimaryKeys(null, null, "t").close();
                    assertIdle();
                }
            }
        }
    }

    @Test
    void metaDataOfAResultLeavesNoTransactionOpen() throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT v AS renamed FROM t")) {
            assertThat(result.getMetaData().getColumnLabel(1)).isEqualTo("renamed");
            assertThat(result.getMetaData().isAutoIncrement(1)).isFalse();
            assertThat(result.getMetaData().isNullable(1)).isPositive();
            assertIdle();
            FencedPool.write(connection, 1);
        }
        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void aRowOfAResultIsWrittenThroughTheFence() throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement statement =
                        connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet row = statement.executeQuery("SELECT id, v FROM t")) {
            row.next();
            row.updateInt("v", 1);
            row.updateRow();
            assertThat(db.value()).isEqualTo("1");
            db.raise(FakeLease.of(8));
            row.updateInt("v", 2);
            assertThatThrownBy(row::updateRow).isInstanceOf(FencedOutException.class);
            db.lease.set(null);
            assertThatThrownBy(row::deleteRow).isInstanceOf(NoLeaseException.class);
        }
        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void generatedKeysAndSeveralResultsAreThere_afterTheCommit() throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("INSERT INTO t VALUES (2, 22)", Statement.RETURN_GENERATED_KEYS);
            try (ResultSet keys = statement.getGeneratedKeys()) {
                assertThat(keys.next()).isTrue();
                assertThat(keys.getInt("v")).isEqualTo(22);
            }
            assertThat(statement.execute("SELECT 1; UPDATE t SET v = 3; SELECT 5"))
                    .isTrue();
            assertThat(statement.getMoreResults()).isFalse();
            assertThat(statement.getUpdateCount()).isEqualTo(2);
            assertThat(statement.getMoreResults()).isTrue();
        }
    }

    @Test
    void readOnlyTransactionsDoNotHoldUpARaise() throws SQLException {
        try (Connection connection = db.fenced.getConnection()) {
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
            assertThatThrownBy(() -> FencedPool.write(connection, 1))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
            connection.rollback();
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
            connection.commit();
        }
    }

    @Test
    void anAbortedConnectionIsReplaced() throws SQLException {
        for (int i = 0; i < 4; i++) {
            try (Connection connection = db.transaction()) {
                FencedPool.write(connection, 1);
                connection.abort(Runnable::run);
                assertThatCode(connection::close).doesNotThrowAnyException();
                assertThat(connection.isClosed()).isTrue();
            }
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void aConnectionThatTheServerEndedIsReplaced() throws SQLException {
        for (int i = 0; i < 4; i++) {
            try (Connection connection = db.transaction()) {
                FencedPool.write(connection, 1);
                Sql.execute(
                        db.plain,
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                + " WHERE state = 'idle in transaction' AND datname = current_database()");
                assertThatThrownBy(connection::commit).isInstanceOf(CommitOutcomeUnknownException.class);
            }
        }
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 2);
            connection.commit();
        }
        assertThat(db.value()).isEqualTo("2");
    }

    @Test
    void nothingWorksAfterClose() throws SQLException {
        Connection connection = db.fenced.getConnection();
        Statement statement = connection.createStatement();
        connection.close();
        connection.close();

        assertThat(connection.isClosed()).isTrue();
        assertThat(connection.isValid(1)).isFalse();
        assertThatThrownBy(() -> statement.execute("UPDATE t SET v = 9")).isInstanceOf(SQLException.class);
        assertThatThrownBy(connection::createStatement).isInstanceOf(SQLException.class);
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void aDeferredConstraintIsTheErrorItIs() throws SQLException {
        Sql.execute(db.plain, "CREATE TABLE item (t int REFERENCES t DEFERRABLE INITIALLY DEFERRED)");
        try (Connection connection = db.transaction()) {
            Sql.execute(connection, "INSERT INTO item VALUES (99)");
            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23503"));
            FencedPool.write(connection, 1);
            connection.commit();
        }
        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void rowFencesJoinTheTransaction() throws SQLException {
        String sql = "UPDATE t SET v = ? WHERE id = 1";
        try (Connection connection = db.transaction()) {
            rows.update(connection, FakeLease.of(7), sql, 5);
            assertThatThrownBy(() -> rows.update(connection, new FencingToken(6), sql, 6))
                    .isInstanceOf(IllegalStateException.class);
            connection.commit();
            Sql.execute(db.plain, "UPDATE t SET fencing_token = 9");
            assertThatThrownBy(() -> rows.update(connection, FakeLease.of(7), sql, 7))
                    .isInstanceOf(FencedOutException.class);
            Sql.execute(connection, "INSERT INTO t VALUES (2, 2)");
            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
            Sql.execute(connection, "INSERT INTO t VALUES (3, 3)");
            connection.commit();
        }
        assertThat(Sql.rows(db.plain, "SELECT id, v FROM t ORDER BY id")).containsExactly("1|5", "3|3");
    }

    @Test
    void rowFencesWorkInAutoCommitMode() throws SQLException {
        try (Connection connection = db.fenced.getConnection()) {
            rows.update(connection, FakeLease.of(7), "UPDATE t SET v = 5 WHERE id = 1");
            assertThatThrownBy(() -> rows.update(connection, FakeLease.of(9), "UPDATE t SET v = 5 WHERE id = 1"))
                    .isInstanceOf(IllegalStateException.class);
            db.lease.set(null);
            assertThatThrownBy(() -> rows.update(connection, FakeLease.of(7), "UPDATE t SET v = 6 WHERE id = 1"))
                    .isInstanceOf(NoLeaseException.class);
        }
        assertThat(db.value()).isEqualTo("5");
    }

    @Test
    void tellsGuardsItsToken() throws SQLException {
        Sql.execute(db.plain, FenceSchema.postgres().inSchema("public").rowGuard("t"));
        FencedDataSource guarded = FencedDataSource.of(db.pool, ResourceFence.on(db.plain, "t"), db.lease::get);
        try (Connection connection = guarded.getConnection()) {
            FencedPool.write(connection, 1);
            connection.setAutoCommit(false);
            FencedPool.write(connection, 2);
            connection.commit();
        }
        assertThat(Sql.one(db.plain, "SELECT v, fencing_token FROM t")).isEqualTo("2|7");
    }

    /** A pool whose alive check, a statement on a connection without auto-commit, leaves a transaction open. */
    private static DataSource checkedWithoutAutoCommit(DataSource pool) {
        return Wrapped.of(pool, connection -> {
            connection.setAutoCommit(false);
            Sql.execute(connection, "SELECT 1");
        });
    }

    @Test
    void takesAConnectionOnWhichThePoolsOwnCheckLeftATransactionOpen() throws SQLException {
        DataSource fenced = FencedDataSource.of(checkedWithoutAutoCommit(db.pool), db.fence, db.lease::get);
        try (Connection connection = fenced.getConnection()) {
            assertThat(connection.getAutoCommit()).isFalse();
            FencedPool.write(connection, 1);
            connection.commit();
        }
        db.lease.set(null);
        try (Connection connection = fenced.getConnection()) {
            assertThatThrownBy(() -> FencedPool.write(connection, 2)).isInstanceOf(NoLeaseException.class);
        }
        assertThat(db.value()).isEqualTo("1");
    }

    private static byte[] oneByte() {
        return new byte[] {1};
    }

    /** The driver makes the large object when the parameter is set. */
    private static void setLargeObject(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO file VALUES (?)")) {
            statement.setBlob(1, new ByteArrayInputStream(oneByte()), 1);
            statement.executeUpdate();
        }
    }

    private String largeObjects() throws SQLException {
        return Sql.one(db.plain, "SELECT count(*) FROM pg_largeobject_metadata");
    }

    @Test
    void aLargeObjectMayBeTheFirstThingOfATransaction() throws SQLException {
        Sql.execute(db.plain, "CREATE TABLE file (content oid)");
        try (Connection connection = db.transaction()) {
            setLargeObject(connection);
            connection.commit();
            assertThat(largeObjects()).isEqualTo("1");
            setLargeObject(connection);
            db.raise(FakeLease.of(8));
            assertThatThrownBy(connection::commit).isInstanceOf(FencedOutException.class);
        }
        try (Connection connection = db.fenced.getConnection()) {
            assertThatThrownBy(() -> setLargeObject(connection)).hasMessageContaining("auto-commit");
        }
        assertThat(largeObjects()).isEqualTo("1");
    }

    @Test
    void aFollowerMakesNoLargeObject_alsoWhereTheDriverCannotBeAsked() throws SQLException {
        Sql.execute(db.plain, "CREATE TABLE file (content oid)");
        db.lease.set(null);
        FencedDataSource opaque = FencedDataSource.of(Wrapped.opaque(db.pool), db.fence, db.lease::get);
        for (FencedDataSource source : List.of(db.fenced, opaque)) {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                PreparedStatement statement = connection.prepareStatement("SELECT ?::oid");
                try {
                    statement.setBlob(1, new ByteArrayInputStream(oneByte()), 1);
                    statement.executeQuery();
                    connection.commit();
                } catch (NoLeaseException e) {
                    connection.rollback();
                }
            }
        }
        assertThat(largeObjects()).isEqualTo("0");
    }

    @Test
    void aFollowersWriteThatRunsAtTheCommitIsRefused() throws SQLException {
        db.lease.set(null);
        try (Connection connection = db.transaction()) {
            Sql.execute(connection, "DECLARE late CURSOR WITH HOLD FOR SELECT write(9)");
            assertThatThrownBy(connection::commit).isInstanceOf(NoLeaseException.class);
        }
        assertThat(db.value()).isEqualTo("0");
    }

    @Test
    void statementsAndResultsLeadToTheDriverInTransactionsOnly() throws SQLException {
        try (Connection connection = db.fenced.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT v FROM t")) {
            assertThatThrownBy(() -> statement.unwrap(PGStatement.class)).hasMessageContaining("auto-commit");
            assertThatThrownBy(() -> result.unwrap(PGRefCursorResultSet.class)).hasMessageContaining("auto-commit");
            connection.setAutoCommit(false);
            statement.unwrap(PGStatement.class).setPrepareThreshold(1);
        }
    }

    @Test
    void isHealthyAfterAThousandRefusals() throws SQLException {
        db.raise(FakeLease.of(8));
        for (int i = 0; i < 1_000; i++) {
            if (i % 100 == 0) {
                db.lease.set(i % 200 == 0 ? FakeLease.of(7) : null);
            }
            try (Connection connection = db.transaction()) {
                assertThatThrownBy(() -> {
                            FencedPool.write(connection, 1);
                            connection.commit();
                        })
                        .isInstanceOf(FencingException.class);
            }
        }
        assertThat(db.pool.getHikariPoolMXBean().getTotalConnections()).isLessThanOrEqualTo(2);
        assertThat(Duration.ofMillis(db.pool.getMaxLifetime())).isGreaterThan(Duration.ofMinutes(1));
        db.lead(9);
        try (Connection connection = db.transaction()) {
            FencedPool.write(connection, 2);
            connection.commit();
        }
        assertThat(db.value()).isEqualTo("2");
    }
}
