package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.FencingToken;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

@ExtendWith(SharedServers.class)
class TransactionConnectionIT {
    private final FakeLease lease = FakeLease.of(7);
    private DataSource dataSource;
    private ResourceFence fence;

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException, InterruptedException {
        dataSource = database.dataSource();
        Sql.execute(
                dataSource, FenceSchema.postgres().fenceTable(), "CREATE TABLE t (v int)", "INSERT INTO t VALUES (0)");
        fence = ResourceFence.on(dataSource, "t");
        fence.raise(lease);
    }

    private void refuses(ResourceFence.Action<Exception> action) throws Exception {
        fence.useTransaction(lease, connection -> {
            Sql.execute(connection, "UPDATE t SET v = v + 1");
            assertThatThrownBy(() -> action.run(connection))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("ResourceFence.inTransaction");
        });
        assertThat(Sql.one(dataSource, "SELECT v FROM t")).isEqualTo("1");
        Sql.execute(dataSource, "UPDATE t SET v = 0");
    }

    @Test
    void theWorkCannotEndTheTransaction() throws Exception {
        refuses(Connection::commit);
        refuses(Connection::rollback);
        refuses(Connection::close);
        refuses(connection -> connection.abort(Runnable::run));
        refuses(connection -> connection.setAutoCommit(true));
        refuses(connection -> connection.setReadOnly(true));
        refuses(connection -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE));
        refuses(connection -> connection.createStatement().getConnection().commit());
        refuses(connection -> connection
                .prepareStatement("SELECT 1")
                .executeQuery()
                .getStatement()
                .getConnection()
                .commit());
        refuses(connection -> connection.getMetaData().getConnection().commit());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COMMIT",
                "commit; UPDATE t SET v = 9",
                "UPDATE t SET v = 9; COMMIT",
                "COMMIT AND CHAIN",
                "END",
                "ROLLBACK",
                "/* */ BEGIN",
                "PREPARE TRANSACTION 'x'",
            })
    void theWorkCannotEndTheTransaction_inSqlText(String sql) throws Exception {
        refuses(connection -> connection.createStatement().execute(sql));
        refuses(connection -> connection.createStatement().executeUpdate(sql));
        refuses(connection -> connection.createStatement().addBatch(sql));
        refuses(connection -> connection.prepareStatement(sql));
        refuses(connection -> connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS));
        refuses(connection -> connection.prepareCall(sql));
    }

    @Test
    void everythingElseWorksAsUsual() throws SQLException {
        int[] counts = fence.inTransaction(lease, connection -> {
            Savepoint savepoint = connection.setSavepoint();
            Sql.execute(connection, "UPDATE t SET v = 99");
            connection.rollback(savepoint);
            Sql.execute(connection, "SAVEPOINT s", "UPDATE t SET v = 98", "ROLLBACK TO SAVEPOINT s");
            try (PreparedStatement update = connection.prepareStatement("UPDATE t SET v = v + ?");
                    CallableStatement call = connection.prepareCall("{? = call pg_catalog.lower(?)}");
                    ResultSet columns = connection.getMetaData().getColumns(null, null, "t", null)) {
                call.registerOutParameter(1, java.sql.Types.VARCHAR);
                call.setString(2, "ABC");
                call.execute();
                assertThat(call.getString(1)).isEqualTo("abc");
                assertThat(columns.next()).isTrue();
                assertThat(columns.getString("COLUMN_NAME")).isEqualTo("v");
                assertThat(connection.unwrap(PGConnection.class).getBackendPID())
                        .isPositive();
                assertThat(Set.of(connection)).contains(connection);
                assertThat(connection.isClosed()).isFalse();
                update.setInt(1, 1);
                update.addBatch();
                update.addBatch();
                return update.executeBatch();
            }
        });

        assertThat(counts).containsExactly(1, 1);
        assertThat(Sql.one(dataSource, "SELECT v FROM t")).isEqualTo("2");
    }

    @Test
    void aProcedureTakesPart_butCannotEndTheTransaction() throws Exception {
        Sql.execute(
                dataSource,
                "CREATE PROCEDURE add() LANGUAGE plpgsql AS 'BEGIN UPDATE t SET v = v + 1; END'",
                "CREATE PROCEDURE add_and_commit() LANGUAGE plpgsql AS"
                        + " 'BEGIN UPDATE t SET v = v + 10; COMMIT; END'");
        fence.useTransaction(lease, connection -> Sql.execute(connection, "CALL add()"));

        assertThatThrownBy(() ->
                        fence.useTransaction(lease, connection -> Sql.execute(connection, "CALL add_and_commit()")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("2D000"));
        assertThatThrownBy(() -> fence.useTransaction(new FencingToken(6), connection -> {
                    Sql.execute(connection, "CALL add()");
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(Sql.one(dataSource, "SELECT v FROM t")).isEqualTo("1");
    }

    @Test
    void driverErrorsArriveAsTheyAre() {
        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> Sql.execute(connection, "nonsense")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42601"));
    }

    @Test
    void nothingWorksAfterTheTransactionHasEnded() throws SQLException {
        List<Connection> escaped = new ArrayList<>();
        List<Statement> statement = new ArrayList<>();
        fence.useTransaction(lease, connection -> {
            escaped.add(connection);
            statement.add(connection.createStatement());
        });

        assertThatThrownBy(() -> statement.get(0).execute("UPDATE t SET v = 9"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("has ended");
        assertThatThrownBy(() -> escaped.get(0).createStatement()).isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> escaped.get(0).unwrap(PGConnection.class)).isInstanceOf(SQLException.class);
        assertThat(escaped.get(0).isClosed()).isTrue();
        escaped.get(0).close();
    }
}
