package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class RowFenceIT {
    private static final String CLOSE = "UPDATE invoice SET status = ? WHERE id = ?";

    private final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    private DataSource dataSource;
    private Connection connection;

    @BeforeEach
    void table(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        connection = dataSource.getConnection();
        Sql.execute(
                connection,
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                FenceSchema.postgres().tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 5), (3, 'open', 0)");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private String invoice(int id) throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice WHERE id = " + id);
    }

    private FencedOutException refused(long token, String sql, Object... parameters) {
        return catchThrowableOfType(
                FencedOutException.class, () -> fence.update(connection, new FencingToken(token), sql, parameters));
    }

    @Test
    void writesRowAndToken_whenTokenIsHigherOrEqual() throws SQLException {
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "closed", 1))
                .isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("closed|7");
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "again", 1)).isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("again|7");
        assertThat(invoice(2)).isEqualTo("open|5");
    }

    @Test
    void rejectsWrite_whenTokenIsLower() throws SQLException {
        FencedOutException refusal = refused(4, CLOSE, "closed", 1);

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.presented()).isEqualTo(new FencingToken(4));
        assertThat(refusal.observed()).hasValue(5);
        assertThat(refusal.target()).isEqualTo("table invoice");
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal)
                .hasMessageContaining("table invoice (id = 1) with token 4")
                .hasMessageContaining("token 5");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void deletes_unlessTheRowIsNewerOrMissing() throws SQLException {
        String delete = "DELETE FROM invoice WHERE id = ?";

        assertThat(refused(4, delete, 1).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(fence.update(connection, FakeLease.of(5), delete, 1)).isEqualTo(1);
        assertThat(refused(5, delete, 1)).isInstanceOf(NoMatchingRowException.class);
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM invoice")).isEqualTo("2");
    }

    @Test
    void saysNoMatchingRow_andLeavesTheTransactionUsable_whenTheRowIsMissing() throws SQLException {
        connection.setAutoCommit(false);

        FencedOutException refusal = refused(9, CLOSE, "closed", 99);

        assertThat(refusal).isInstanceOf(NoMatchingRowException.class);
        assertThat(refusal.reason()).isEqualTo(Reason.NO_MATCHING_ROW);
        assertThat(refusal.observed()).isEmpty();
        assertThat(fence.update(connection, FakeLease.of(9), CLOSE, "closed", 1))
                .isEqualTo(1);
        connection.commit();
        assertThat(invoice(1)).isEqualTo("closed|9");
    }

    @Test
    void looksBehindAnotherFalseCondition() throws SQLException {
        String sql = "UPDATE invoice SET status = ? WHERE id = ? AND status = 'draft'";

        assertThat(refused(4, sql, "closed", 1).reason()).isEqualTo(Reason.SUPERSEDED);
        FencedOutException current = refused(5, sql, "closed", 1);
        assertThat(current.reason()).isEqualTo(Reason.NO_MATCHING_ROW);
        assertThat(current.observed()).hasValue(5);
    }

    @Test
    void cannotTell_withoutAKey() {
        RowFence keyless = RowFence.onColumn("fencing_token");

        assertThatThrownBy(() -> keyless.update(connection, FakeLease.of(4), CLOSE, "closed", 99))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
        assertThatThrownBy(() -> keyless.update(connection, FakeLease.of(4), CLOSE, "closed", 1))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(refused(9, "UPDATE invoice SET status = 'x' WHERE id = ? OR id = ?", 98, 99)
                        .reason())
                .isEqualTo(Reason.UNKNOWN);
    }

    @Test
    void cannotTell_whenATriggerSkipsTheRow() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                "CREATE TRIGGER skip BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION skip()");

        FencedOutException refusal = refused(7, CLOSE, "closed", 1);

        assertThat(refusal.reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refusal).hasMessageContaining("trigger");
    }

    @Test
    void neverSaysSuperseded_whenRowLevelSecurityHidesTheRow() throws SQLException {
        Sql.execute(
                dataSource,
                "ALTER TABLE invoice ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY reading ON invoice FOR SELECT USING (id <> 3)",
                "CREATE POLICY writing ON invoice FOR UPDATE USING (id = 1)",
                "CREATE ROLE clerk_" + connection.getCatalog(),
                "GRANT ALL ON invoice TO clerk_" + connection.getCatalog());
        Sql.execute(connection, "SET ROLE clerk_" + connection.getCatalog());

        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "closed", 1))
                .isEqualTo(1);
        assertThat(refused(7, CLOSE, "closed", 2).reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refused(7, CLOSE, "closed", 3).reason()).isEqualTo(Reason.NO_MATCHING_ROW);
    }

    @Test
    void cannotTell_andKeepsTheFailure_whenTheReadFails() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SEQUENCE calls",
                "CREATE FUNCTION fails_when_called_again() RETURNS boolean LANGUAGE plpgsql AS"
                        + " 'BEGIN IF nextval(''calls'') > 1 THEN RAISE ''called again''; END IF; RETURN false; END'");

        FencedOutException refusal =
                refused(7, "UPDATE invoice SET status = 'x' WHERE id = 1 AND fails_when_called_again()");

        assertThat(refusal.reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refusal.getSuppressed()).singleElement().isInstanceOf(SQLException.class);
    }

    @Test
    void passesASerializationFailureOfTheReadThrough() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SEQUENCE calls",
                "CREATE FUNCTION fails_when_called_again() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN IF"
                        + " nextval(''calls'') > 1 THEN RAISE ''again'' USING ERRCODE = ''40001''; END IF;"
                        + " RETURN false; END'");

        assertThatThrownBy(() -> fence.update(
                        connection,
                        FakeLease.of(7),
                        "UPDATE invoice SET status = 'x' WHERE id = 1 AND fails_when_called_again()"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
    }

    @Test
    void reportsMoreThanOneRow_andLeavesTheRollbackToTheCaller() throws SQLException {
        connection.setAutoCommit(false);

        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET status = 'closed'"))
                .isInstanceOfSatisfying(
                        TooManyRowsException.class, e -> assertThat(e.rows()).isEqualTo(3));
        connection.rollback();
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void asksTheLeaseBeforeAnySqlIsSent() throws SQLException {
        FakeLease lost = FakeLease.of(9);
        lost.lose();
        connection.close();

        assertThatThrownBy(() -> fence.update(connection, lost, CLOSE, "closed", 1))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void reportsRegression_whenTheRefusedLeaseIsTheConfirmedLeader() {
        assertThatThrownBy(() -> fence.update(
                        connection, FakeLease.of(4).confirming(Confirmation.CONFIRMED), CLOSE, "closed", 1))
                .isInstanceOfSatisfying(TokenRegressionException.class, e -> {
                    assertThat(e.granted().value()).isEqualTo(4);
                    assertThat(e.seen().value()).isEqualTo(5);
                    assertThat(FencedOutException.find(e)).isPresent();
                });
        assertThatThrownBy(() ->
                        fence.update(connection, FakeLease.of(4).confirming(Confirmation.UNKNOWN), CLOSE, "closed", 1))
                .isInstanceOf(FencedOutException.class);
    }

    @Test
    void namesBothNumbers_whenParametersAreMissing() {
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(9), CLOSE, "closed"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("takes 2 parameters, but 1 were given");
    }

    @Test
    void passesNullAsAParameter() throws SQLException {
        fence.update(connection, FakeLease.of(9), CLOSE, null, 1);

        assertThat(invoice(1)).isEqualTo("null|9");
    }

    @Test
    void leavesTheCallersTransactionAlone() throws SQLException {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);

        fence.update(connection, FakeLease.of(7), CLOSE, "closed", 1);
        refused(4, CLOSE, "closed", 1);
        refused(7, CLOSE, "closed", 99);

        assertThat(connection.getAutoCommit()).isFalse();
        assertThat(connection.isReadOnly()).isFalse();
        assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
        assertThat(invoice(1)).isEqualTo("open|5");
        connection.rollback();
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void passesOrdinaryErrorsThrough() {
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE nowhere SET a = 1 WHERE id = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42P01"));
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET nope = 1 WHERE id = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42703"));
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET id = 2 WHERE id = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
    }
}
