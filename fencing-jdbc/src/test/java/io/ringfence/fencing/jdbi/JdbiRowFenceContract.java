package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FenceSchemaException;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.PartiallyFencedException;
import io.ringfence.fencing.Sql;
import io.ringfence.fencing.TooManyRowsException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToCreateStatementException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a fenced statement does that is written through JDBI, whichever way it is written. */
@Tag("jdbi")
@ExtendWith(SharedServers.class)
abstract class JdbiRowFenceContract {
    static final String CLOSE = "UPDATE invoice SET status = :status WHERE id = :id";

    final JdbiFence fence = JdbiFence.onColumn("fencing_token").key("id");
    final DataSource dataSource;
    final Jdbi jdbi;
    final InvoiceTable invoices;
    Handle handle;
    JdbiWrites writes;

    JdbiRowFenceContract(PostgresDatabase empty) throws SQLException {
        dataSource = empty.dataSource();
        invoices = new InvoiceTable(dataSource).create();
        jdbi = Jdbi.create(dataSource).installPlugin(new SqlObjectPlugin()).installPlugin(fence);
        handle = jdbi.open();
        writes = over(handle);
    }

    /** Opens the way that is tested. */
    abstract JdbiWrites over(Handle opened);

    /** What messages say about where a statement is. */
    abstract String place(String method);

    @AfterEach
    void close() {
        handle.rollback();
        handle.close();
    }

    private static Map<String, Object> invoice(String status, int id) {
        return Map.of("status", status, "id", id);
    }

    private FencedOutException refused(long token, String sql, Map<String, Object> parameters) {
        return catchThrowableOfType(
                FencedOutException.class, () -> writes.update(FakeLease.of(token), sql, parameters));
    }

    @Test
    void writesRowAndToken_whenTokenIsHigherOrEqual() throws SQLException {
        assertThat(writes.update(FakeLease.of(7), CLOSE, invoice("closed", 1))).isEqualTo(1);
        assertThat(invoices.row(1)).isEqualTo("closed|7");
        assertThat(writes.update(FakeLease.of(7), CLOSE, invoice("again", 1))).isEqualTo(1);
        assertThat(invoices.row(1)).isEqualTo("again|7");
        assertThat(invoices.row(2)).isEqualTo("open|5");
    }

    @Test
    void rejectsWrite_whenTokenIsLower() throws SQLException {
        FencedOutException refusal = refused(4, CLOSE, invoice("closed", 1));

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.presented()).isEqualTo(new FencingToken(4));
        assertThat(refusal.observed()).hasValue(5);
        assertThat(refusal.target()).isEqualTo("table invoice");
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal)
                .hasMessageContaining("table invoice (id = 1) with token 4")
                .hasMessageContaining("token 5 of a newer leader")
                .hasMessageEndingWith("\nIn " + place("update") + CLOSE);
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    void deletes_unlessTheRowIsNewerOrMissing() throws SQLException {
        String delete = "DELETE FROM invoice WHERE id = :id";

        assertThat(refused(4, delete, Map.of("id", 1)).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(writes.update(FakeLease.of(5), delete, Map.of("id", 1))).isEqualTo(1);
        assertThat(refused(5, delete, Map.of("id", 1))).isInstanceOf(NoMatchingRowException.class);
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM invoice")).isEqualTo("2");
    }

    @Test
    void saysNoMatchingRow_andLeavesTheTransactionUsable_whenTheRowIsMissing() throws SQLException {
        handle.useTransaction(inside -> {
            assertThat(refused(9, CLOSE, invoice("closed", 99))).isInstanceOf(NoMatchingRowException.class);
            writes.update(FakeLease.of(9), CLOSE, invoice("closed", 1));
        });

        assertThat(invoices.row(1)).isEqualTo("closed|9");
    }

    @Test
    void looksBehindAnotherFalseCondition() {
        String sql = CLOSE + " AND status = 'draft'";

        assertThat(refused(4, sql, invoice("closed", 1)).reason()).isEqualTo(Reason.SUPERSEDED);
        FencedOutException current = refused(5, sql, invoice("closed", 1));
        assertThat(current.reason()).isEqualTo(Reason.NO_MATCHING_ROW);
        assertThat(current.observed()).hasValue(5);
    }

    @Test
    void cannotTell_withoutAKey() {
        assertThatThrownBy(() -> writes.keyless(FakeLease.of(4), CLOSE, invoice("closed", 99)))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
        assertThatThrownBy(() -> writes.keyless(FakeLease.of(4), CLOSE, invoice("closed", 1)))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id = :a OR id = :b",
                "id = :a OR id = :b -- or more",
                "id = :a OR /* where */ id = :b;",
                "id = :a OR\r\nid = :b\r\n;\r\n",
                "CASE WHEN id = :a OR id = :b THEN true ELSE false END",
                "id IN (SELECT i.id FROM invoice i WHERE i.id = :a OR i.id = :b)",
                "EXISTS (SELECT 1 FROM (SELECT 1 AS x) j WHERE invoice.id = :a OR invoice.id = :b)",
                "status = 'it''s WHERE OR ' OR id = :a OR id = :b",
                "\"id\" = :a OR \"invoice\".\"id\" = :b",
                "NOT (id <> :a AND id <> :b)",
                "id BETWEEN :a AND :b",
                "doc @> '{\"k\": 1}'::jsonb AND id IN (:a, :b)",
                "doc ?? 'k' AND (id = :a OR id = :b)",
                "id = :a::int OR id = CAST(:b AS int)",
                "status = $$ ' OR $$ OR id = :a OR id = :b",
                "id = ANY (ARRAY[:a, :b])",
                "id = :a OR id = :b OR (id = :a AND id = :b)",
            })
    void aStaleTokenWritesNothing_andAFreshOneWhatTheStatementSays(String predicate) throws SQLException {
        Map<String, Object> ids = Map.of("a", 1, "b", 2);
        for (String start : List.of("UPDATE invoice SET status = 'x' WHERE ", "DELETE FROM invoice WHERE ")) {
            handle.begin();
            assertThat(handle.createUpdate(start + predicate).bindMap(ids).execute())
                    .as("without a fence")
                    .isEqualTo(2);
            handle.rollback();

            handle.begin();
            assertThatThrownBy(() -> writes.two(FakeLease.of(4), start + predicate, ids))
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
            handle.rollback();

            handle.begin();
            assertThat(writes.two(FakeLease.of(5), start + predicate, ids)).isEqualTo(2);
            handle.rollback();
        }
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO invoice (id, status) VALUES (9, 'x')",
                "INSERT INTO invoice (id, status) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET status = 'x'",
                "UPDATE invoice SET status = 'x' FROM invoice j WHERE invoice.id = j.id",
                "UPDATE invoice SET status = 'x' FROM invoice j WHERE invoice.id = j.id AND {fence.where}",
                "UPDATE invoice SET status = 'x', {fence.set} FROM invoice j WHERE invoice.id = j.id AND {fence.where j}",
                "UPDATE invoice SET status = 'x', fencing_token = 99 WHERE id = 1",
                "UPDATE invoice SET status = 'x' WHERE id = 1; DELETE FROM invoice",
                "DELETE FROM invoice USING invoice j WHERE invoice.id = j.id",
                "WITH x AS (SELECT 1) UPDATE invoice SET status = 'x' WHERE id = 1",
                "MERGE INTO invoice USING invoice j ON invoice.id = j.id WHEN MATCHED THEN DELETE",
                "SELECT 1",
                "TRUNCATE TABLE invoice",
                "DROP TABLE invoice",
                "COMMIT",
                "DO 'BEGIN DELETE FROM invoice; END'",
            })
    void refusesWhatIsNotUnderstood_andRunsNothing(String sql) throws SQLException {
        assertThatThrownBy(() -> writes.update(FakeLease.of(9), sql, Map.of()))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("inTransaction")
                .hasMessageContaining("In " + place("update") + sql);
        assertThatThrownBy(() -> writes.returning(FakeLease.of(9), sql, Map.of()))
                .isInstanceOf(NotFenceableException.class);

        assertThat(Sql.rows(dataSource, "SELECT id, status, fencing_token FROM invoice ORDER BY id"))
                .containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    @Test
    void fencesWhereTheMarkersStand() throws SQLException {
        String update = "UPDATE invoice i SET status = :status, {fence.set} FROM invoice j"
                + " WHERE i.id = j.id AND j.id = :id AND {fence.where i}";

        assertThatThrownBy(() -> writes.update(FakeLease.of(4), update, invoice("closed", 1)))
                .isInstanceOf(FencedOutException.class);
        writes.update(FakeLease.of(7), update, invoice("closed", 1));
        assertThat(invoices.row(1)).isEqualTo("closed|7");
    }

    @Test
    void upserts_withMarkers() throws SQLException {
        String upsert = "INSERT INTO invoice (id, status, {fence.column}) VALUES (:id, :status, {fence.token})"
                + " ON CONFLICT (id) DO UPDATE SET status = excluded.status, {fence.set} WHERE {fence.where invoice}";

        writes.update(FakeLease.of(4), upsert, invoice("new", 9));
        assertThat(invoices.row(9)).isEqualTo("new|4");
        writes.update(FakeLease.of(7), upsert, invoice("taken over", 1));
        assertThat(invoices.row(1)).isEqualTo("taken over|7");
        assertThat(refused(6, upsert, invoice("stale", 1)).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(invoices.row(1)).isEqualTo("taken over|7");
    }

    @Test
    void returnsTheRows_andRefusesAStaleToken() throws SQLException {
        String returning = CLOSE + " RETURNING status || id";

        assertThat(writes.returning(FakeLease.of(7), returning, invoice("closed", 1)))
                .containsExactly("closed1");
        assertThat(writes.update(FakeLease.of(7), returning, invoice("again", 1)))
                .isEqualTo(1);
        assertThat(writes.generated(FakeLease.of(7), CLOSE, invoice("thrice", 1)))
                .isEqualTo("thrice");
        assertThat(invoices.row(1)).isEqualTo("thrice|7");

        assertThatThrownBy(() -> writes.returning(FakeLease.of(6), returning, invoice("stale", 1)))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED))
                .hasMessageEndingWith("In " + place("returning") + returning);
        assertThat(refused(6, returning, invoice("stale", 1)).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThatThrownBy(() -> writes.generated(FakeLease.of(6), CLOSE, invoice("stale", 1)))
                .isInstanceOf(FencedOutException.class);
        assertThatThrownBy(() -> writes.returning(FakeLease.of(7), returning, invoice("closed", 99)))
                .isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> writes.returning(
                        FakeLease.of(7), "UPDATE invoice SET status = 'x' WHERE id < 3 RETURNING id", Map.of()))
                .isInstanceOf(TooManyRowsException.class);
    }

    @Test
    void holdsTheNumberOfRowsAgainstWhatIsExpected() throws SQLException {
        String all = "UPDATE invoice SET status = 'x' WHERE id > :id";

        handle.begin();
        assertThatThrownBy(() -> writes.update(FakeLease.of(7), all, Map.of("id", 0)))
                .isInstanceOf(TooManyRowsException.class)
                .hasMessageContaining("wrote 3 rows")
                .hasMessageEndingWith("In " + place("update") + all);
        handle.rollback();
        assertThatThrownBy(() -> writes.atLeastOne(FakeLease.of(7), all, Map.of("id", 9)))
                .isInstanceOf(FencedOutException.class);
        assertThat(writes.any(FakeLease.of(7), all, Map.of("id", 9))).isZero();
        assertThat(writes.atLeastOne(FakeLease.of(7), all, Map.of("id", 0))).isEqualTo(3);
    }

    @Test
    void saysHowManyRowsWereSkipped() throws SQLException {
        String all = "UPDATE invoice SET status = 'x' WHERE id > :id";
        Map<String, Object> from = Map.of("id", 0);

        handle.begin();
        assertThatThrownBy(() -> writes.any(FakeLease.of(4), all, from))
                .isInstanceOfSatisfying(PartiallyFencedException.class, e -> {
                    assertThat(e.written()).isEqualTo(1);
                    assertThat(e.skipped()).isEqualTo(2);
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                });
        handle.rollback();
        handle.begin();
        assertThatThrownBy(() -> writes.two(FakeLease.of(4), all, from)).isInstanceOf(PartiallyFencedException.class);
        handle.rollback();
        assertThat(writes.unchecked(FakeLease.of(4), all, from)).isEqualTo(1);
        assertThat(invoices.row(1)).isEqualTo("open|5");
        assertThat(invoices.row(3)).isEqualTo("x|4");
    }

    @Test
    void commitsAllOfABatch_orNothing() throws SQLException {
        assertThat(writes.closeAll(FakeLease.of(7), List.of(1, 3))).containsExactly(1, 1);
        assertThat(invoices.row(1)).isEqualTo("closed|7");

        assertThatThrownBy(() -> writes.closeAll(FakeLease.of(6), List.of(2, 1, 3)))
                .isInstanceOfSatisfying(PartiallyFencedException.class, e -> {
                    assertThat(e.entries()).containsExactly(1, 2);
                    assertThat(e.key()).contains("id = 1");
                })
                .hasMessageContaining("In " + place("closeAll") + "UPDATE invoice SET status = 'closed'");
        assertThat(invoices.row(2)).isEqualTo("open|5");
        assertThatThrownBy(() -> writes.closeAll(FakeLease.of(7), List.of(2, 99)))
                .isInstanceOf(NoMatchingRowException.class);
        assertThat(invoices.row(2)).isEqualTo("open|5");
    }

    @Test
    void asksTheLeaseBeforeAnySqlIsSent() throws SQLException {
        FakeLease lost = FakeLease.of(9);
        lost.lose();
        handle.getConnection().close();

        assertThatThrownBy(() -> writes.update(lost, CLOSE, invoice("closed", 1)))
                .isInstanceOf(LeaseLostException.class)
                .satisfies(e -> assertThat(e.getSuppressed())
                        .anySatisfy(named -> assertThat(named).hasMessageContaining(place("update"))));
        assertThatThrownBy(() -> writes.closeAll(lost, List.of(1))).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> writes.returning(lost, CLOSE + " RETURNING id", invoice("closed", 1)))
                .isInstanceOf(LeaseLostException.class);
        handle = jdbi.open();
    }

    @Test
    void reportsRegression_whenTheRefusedLeaseIsTheConfirmedLeader() {
        assertThatThrownBy(() ->
                        writes.update(FakeLease.of(4).confirming(Confirmation.CONFIRMED), CLOSE, invoice("closed", 1)))
                .isInstanceOf(TokenRegressionException.class);
    }

    @Test
    void saysWhichDdlMendsTheTokenColumn() throws SQLException {
        invoices.execute("CREATE TABLE bill (id int PRIMARY KEY, v int)");
        invoices.execute("INSERT INTO bill (id) VALUES (4)");
        String update = "UPDATE bill SET v = 1 WHERE id = :id";

        FenceSchemaException missing = catchThrowableOfType(
                FenceSchemaException.class, () -> writes.update(FakeLease.of(9), update, Map.of("id", 4)));
        assertThat(missing)
                .hasMessageContaining(missing.ddl())
                .hasMessageContaining("has no token column")
                .hasMessageEndingWith("In " + place("update") + update);

        Sql.execute(dataSource, missing.ddl());
        assertThat(writes.update(FakeLease.of(9), update, Map.of("id", 4))).isEqualTo(1);
    }

    @Test
    void refusesAView_andCannotTellWhatATriggerSkips() throws SQLException {
        invoices.execute("CREATE VIEW bills AS SELECT * FROM invoice");
        assertThatThrownBy(() ->
                        writes.update(FakeLease.of(9), "UPDATE bills SET status = 'x' WHERE id = :id", Map.of("id", 1)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("only the token of a table's own rows can be trusted");

        invoices.execute("CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
        invoices.execute("CREATE TRIGGER skip BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION skip()");
        assertThat(refused(7, CLOSE, invoice("closed", 1)).reason()).isEqualTo(Reason.UNKNOWN);
    }

    @Test
    void isSuperseded_whenItWaitedForTheNewLeader() throws Exception {
        WaitingWrite waiting = new WaitingWrite(jdbi, dataSource, this::over);

        assertThatThrownBy(() -> waiting.at(TransactionIsolationLevel.READ_COMMITTED))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(7);
                });
        waiting.withoutAFence();
        assertThat(invoices.row(1)).as("without a fence").isEqualTo("stale|8");
    }

    @ParameterizedTest
    @ValueSource(strings = {"REPEATABLE_READ", "SERIALIZABLE"})
    void passesASerializationFailureThrough_whenItWaitedForTheNewLeader(String level) {
        assertThatThrownBy(() ->
                        new WaitingWrite(jdbi, dataSource, this::over).at(TransactionIsolationLevel.valueOf(level)))
                .isInstanceOf(UnableToExecuteStatementException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
    }

    @Test
    void leavesJdbisExceptionsToJdbi() {
        assertThatThrownBy(() -> writes.update(FakeLease.of(7), CLOSE, Map.of("status", "x")))
                .isInstanceOf(UnableToCreateStatementException.class)
                .hasMessageContaining("id");
        assertThatThrownBy(() -> writes.update(FakeLease.of(7), "UPDATE nowhere SET a = 1 WHERE id = 1", Map.of()))
                .isInstanceOf(JdbiException.class);
        assertThatThrownBy(() -> writes.update(FakeLease.of(7), "UPDATE invoice SET nope = 1 WHERE id = 1", Map.of()))
                .isInstanceOf(UnableToExecuteStatementException.class);
        assertThatThrownBy(() -> writes.update(FakeLease.of(7), "UPDATE invoice SET id = 2 WHERE id = 1", Map.of()))
                .isInstanceOf(UnableToExecuteStatementException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("23"));
    }
}
