package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one fenced statement does on every database that row fences work on. */
abstract class RowFenceContract extends RowFenceFixture {

    RowFenceContract(FencedDatabase empty) {
        super(empty);
    }

    @Test
    void writesRowAndToken_whenTokenIsHigherOrEqual() throws SQLException {
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "closed", 1))
                .isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("closed|7");
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "again", 1)).isEqualTo(1);
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "again", 1))
                .as("equal values")
                .isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("again|7");
        assertThat(invoice(2)).isEqualTo("open|5");
    }

    @Test
    void rejectsWrite_whenTokenIsLower() throws SQLException {
        FencedOutException refusal = refused(4, CLOSE, "closed", 1);

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.presented()).isEqualTo(new FencingToken(4));
        assertThat(refusal.observed()).hasValue(5);
        assertThat(refusal.target()).isEqualToIgnoringCase("table invoice");
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal.entries()).isEmpty();
        assertThat(refusal.getMessage())
                .containsIgnoringCase("table invoice (id = 1) with token 4")
                .contains("token 5 of a newer leader")
                .contains("stop this term's work");
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
    void looksBehindAnotherFalseCondition() {
        String sql = "UPDATE invoice SET status = ? WHERE id = ? AND status = 'draft'";

        assertThat(refused(4, sql, "closed", 1).reason()).isEqualTo(Reason.SUPERSEDED);
        FencedOutException current = refused(5, sql, "closed", 1);
        assertThat(current.reason()).isEqualTo(Reason.NO_MATCHING_ROW);
        assertThat(current.observed()).hasValue(5);
    }

    @Test
    void cannotTell_withoutAKey() {
        RowFence keyless = RowFence.onColumn("fencing_token");

        assertThat(refused(keyless, 4, CLOSE, "closed", 99).reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refused(keyless, 4, CLOSE, "closed", 1).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(9, "UPDATE invoice SET status = 'x' WHERE id = ? OR id = ?", 98, 99)
                        .reason())
                .isEqualTo(Reason.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id = ? OR id = ?",
                "id = ? OR id = ? -- or more",
                "id = ? OR /* where */ id = ?;",
                "id = ? OR\r\nid = ?\r\n;\r\n",
                "CASE WHEN id = ? OR id = ? THEN 1 ELSE 0 END = 1",
                "id IN (SELECT i.id FROM (SELECT 1 AS id UNION SELECT 2) i WHERE i.id = ? OR i.id = ?)",
                "EXISTS (SELECT 1 FROM (SELECT 1 AS x) j WHERE invoice.id = ? OR invoice.id = ?)",
                "status = 'it''s WHERE OR ' OR id = ? OR id = ?",
                "NOT (id <> ? AND id <> ?)",
                "id BETWEEN ? AND ?",
            })
    void aStaleTokenWritesNothing_andAFreshOneWhatTheStatementSays(String predicate) throws SQLException {
        RowFence two = fence.expecting(ExpectedRows.exactly(2));
        connection.setAutoCommit(false);
        for (String start : List.of("UPDATE invoice SET status = 'x' WHERE ", "DELETE FROM invoice WHERE ")) {
            try (Connection unfenced = dataSource.getConnection();
                    PreparedStatement control = unfenced.prepareStatement(start + predicate)) {
                unfenced.setAutoCommit(false);
                control.setInt(1, 1);
                control.setInt(2, 2);
                assertThat(control.executeUpdate()).as("without a fence").isEqualTo(2);
                unfenced.rollback();
            }

            assertThat(refused(two, 4, start + predicate, 1, 2).reason()).isEqualTo(Reason.SUPERSEDED);
            connection.rollback();
            assertThat(two.update(connection, FakeLease.of(5), start + predicate, 1, 2))
                    .isEqualTo(2);
            connection.rollback();
        }
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO invoice (id, status) VALUES (9, 'x')",
                "INSERT INTO invoice (id, status, fencing_token) VALUES (9, 'x', 99)",
                "UPDATE invoice SET status = 'x' FROM invoice j WHERE invoice.id = j.id",
                "UPDATE invoice SET status = 'x' WHERE id = 1 LIMIT 1",
                "UPDATE invoice SET status = 'x' WHERE id = 1 ORDER BY id",
                "UPDATE invoice SET status = 'x', Fencing_Token = 99 WHERE id = 1",
                "UPDATE invoice SET status = 'x' WHERE id = 1; DELETE FROM invoice",
                "UPDATE invoice SET status = 'x' WHERE id = 1 OR {fence.where}",
                "UPDATE invoice SET status = 'x' WHERE id = 1 AND {fence.where}",
                "DELETE FROM invoice USING invoice j WHERE invoice.id = j.id",
                "WITH x AS (SELECT 1) UPDATE invoice SET status = 'x' WHERE id = 1",
                "MERGE INTO invoice USING invoice j ON invoice.id = j.id WHEN MATCHED THEN DELETE",
                "UPDATE invoice SET status = 'it\\' WHERE id = 1",
                "UPDATE invoice SET status = {fn now()} WHERE id = 1",
                "SELECT 1",
                "TRUNCATE TABLE invoice",
                "DROP TABLE invoice",
                "COMMIT",
            })
    void refusesWhatIsNotUnderstood_andRunsNothing(String sql) throws SQLException {
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(9), sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("ResourceFence.inTransaction");

        assertThat(Sql.rows(dataSource, "SELECT id, status, fencing_token FROM invoice ORDER BY id"))
                .containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    @Test
    void fencesWhereTheMarkersStand() throws SQLException {
        String update = "UPDATE invoice SET status = ?, {fence.set} WHERE id = ? AND {fence.where}";
        String insert = "INSERT INTO invoice (id, {fence.column}, status) VALUES (?, {fence.token}, ?)";

        assertThat(refused(4, update, "closed", 1).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(9, update, "closed", 99)).isInstanceOf(NoMatchingRowException.class);
        fence.update(connection, FakeLease.of(7), update, "closed", 1);
        assertThat(invoice(1)).isEqualTo("closed|7");
        fence.update(connection, FakeLease.of(7), insert, 9, "new");
        assertThat(invoice(9)).isEqualTo("new|7");
        assertThat(refused(6, "DELETE FROM invoice WHERE {fence.where invoice} AND invoice.id = 9")
                        .reason())
                .isEqualTo(Reason.SUPERSEDED);
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
    void refusesAView() throws SQLException {
        Sql.execute(dataSource, "CREATE VIEW bills AS SELECT * FROM invoice");

        assertThatThrownBy(
                        () -> fence.update(connection, FakeLease.of(9), "UPDATE bills SET status = 'x' WHERE id = 1"))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("only the token of a table's own rows can be trusted");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ", fencing_token int DEFAULT 0 NOT NULL", ", fencing_token bigint"})
    void saysWhichDdlMendsTheTokenColumn(String column) throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE bill (id int PRIMARY KEY, v int" + column + ")",
                "INSERT INTO bill (id) VALUES (4)");
        RowFence bills = RowFence.onColumn("fencing_token").key("id");
        String update = "UPDATE bill SET v = 1 WHERE id = 4";

        FenceSchemaException wrong = catchThrowableOfType(
                FenceSchemaException.class, () -> bills.update(connection, FakeLease.of(9), update));
        assertThat(wrong.getMessage()).contains(wrong.ddl()).containsIgnoringCase("token column fencing_token");

        for (String ddl : wrong.ddl().split(";\\s*", -1)) {
            if (!ddl.isBlank()) {
                Sql.execute(dataSource, ddl);
            }
        }
        assertThat(bills.update(connection, FakeLease.of(9), update)).isEqualTo(1);
    }

    @Test
    void saysWhichDdlMendsTheTokenColumn_whenItWasRightAtFirst() throws SQLException {
        fence.update(connection, FakeLease.of(5), CLOSE, "closed", 1);
        Sql.execute(
                dataSource,
                "DROP TABLE invoice",
                "CREATE TABLE invoice (id int PRIMARY KEY, status varchar(40), fencing_token bigint)",
                "INSERT INTO invoice (id, status) VALUES (1, 'open')");

        for (ExpectedRows expected : List.of(ExpectedRows.one(), ExpectedRows.any(), ExpectedRows.atLeastOne())) {
            assertThatThrownBy(() -> fence.expecting(expected).update(connection, FakeLease.of(9), CLOSE, "closed", 1))
                    .isInstanceOf(FenceSchemaException.class)
                    .hasMessageContaining("may be NULL");
        }
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
                .isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET nope = 1 WHERE id = 1"))
                .isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET id = 2 WHERE id = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("23"));
    }
}
