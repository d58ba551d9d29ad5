package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Statements of PostgreSQL that are fenced by markers. */
@ExtendWith(SharedServers.class)
class MarkersIT extends RowFenceFixture {
    private static final String UPSERT = """
            INSERT INTO invoice (id, status, {fence.column}) VALUES (?, ?, {fence.token})
            ON CONFLICT (id) DO UPDATE SET status = excluded.status, {fence.set} WHERE {fence.where invoice}""";

    MarkersIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @Test
    void upsertWritesOurToken_whetherTheRowIsNewOrOlder() throws SQLException {
        assertThat(fence.update(connection, FakeLease.of(7), UPSERT, 9, "new")).isEqualTo(1);
        assertThat(invoice(9)).isEqualTo("new|7");
        assertThat(fence.update(connection, FakeLease.of(7), UPSERT, 1, "taken over"))
                .isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("taken over|7");
    }

    @Test
    void upsertIsRefused_whenTheRowIsNewer() throws SQLException {
        FencedOutException refusal = refused(4, UPSERT, 1, "stale");

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal.observed()).hasValue(5);
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void upsertWithoutAFence_overwritesTheNewerRow() throws SQLException {
        Sql.execute(
                connection,
                "INSERT INTO invoice (id, status) VALUES (1, 'stale') ON CONFLICT (id) DO UPDATE SET status ="
                        + " excluded.status");

        assertThat(invoice(1)).isEqualTo("stale|5");
    }

    @Test
    void upsertOfManyRows_reportsThoseOfANewerLeader() throws SQLException {
        String two = UPSERT.replace("(?, ?, {fence.token})", "(1, 'a', {fence.token}), (8, 'b', {fence.token})");
        connection.setAutoCommit(false);

        assertThat(fence.expecting(ExpectedRows.exactly(2)).update(connection, FakeLease.of(5), two))
                .isEqualTo(2);
        connection.rollback();
        for (ExpectedRows expected : new ExpectedRows[] {ExpectedRows.exactly(2), ExpectedRows.any()}) {
            assertThat(refused(fence.expecting(expected), 4, two))
                    .isInstanceOfSatisfying(PartiallyFencedException.class, e -> {
                        assertThat(e.written()).isEqualTo(1);
                        assertThat(e.skipped()).isEqualTo(1);
                    });
            connection.rollback();
        }
    }

    @Test
    void anInsertThatMayDoNothing_saysWhoWasThere() throws SQLException {
        String insert = "INSERT INTO invoice (id, status, {fence.column}) VALUES (?, 'x', {fence.token})"
                + " ON CONFLICT DO NOTHING";

        assertThat(refused(4, insert, 1).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(5, insert, 1)).isInstanceOf(NoMatchingRowException.class);
        fence.update(connection, FakeLease.of(5), insert, 9);
        assertThat(invoice(9)).isEqualTo("x|5");
    }

    @Test
    void refusesAnOpenExpectation_whereTheRowsMeantCannotBeTold() {
        String select = "INSERT INTO invoice (id, {fence.column}) SELECT i, {fence.token} FROM generate_series(1, 2) i"
                + " ON CONFLICT (id) DO UPDATE SET status = 'x', {fence.set} WHERE {fence.where invoice}";

        assertRefusesAnOpenExpectation(select);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ON CONFLICT (status) DO UPDATE SET status = 's1', {fence.set} WHERE {fence.where invoice}",
                "ON CONFLICT (status) DO UPDATE SET {fence.set} WHERE invoice.status > '' AND {fence.where invoice}",
                "ON CONFLICT (status) WHERE status > '' DO UPDATE SET {fence.set} WHERE {fence.where invoice}",
                "ON CONFLICT ON CONSTRAINT one_status DO UPDATE SET {fence.set} WHERE {fence.where invoice}",
                "ON CONFLICT (status) DO NOTHING",
                "ON CONFLICT DO NOTHING"
            })
    void anUpsertThatMeetsANewerRowByAnotherKey_isNotTakenForOneWithoutAMatch(String conflict) throws SQLException {
        Sql.execute(
                connection,
                "UPDATE invoice SET status = 's' || id",
                "ALTER TABLE invoice ADD CONSTRAINT one_status UNIQUE (status)");
        String insert = "INSERT INTO invoice (id, status, {fence.column}) VALUES (?, 's1', {fence.token}) " + conflict;

        assertThat(refused(4, insert, 9).reason()).isEqualTo(Reason.UNKNOWN);
        assertRefusesAnOpenExpectation(insert.replace("?", "9"));
        assertThat(invoice(1)).isEqualTo("s1|5");
        assertThat(fence.expecting(ExpectedRows.unchecked()).update(connection, FakeLease.of(4), insert, 9))
                .as("rows, where nobody asks why")
                .isZero();
    }

    @Test
    void anUpsertOnACompositeKey_isExplainedByThatKey_inAnyOrder() throws SQLException {
        Sql.execute(
                connection,
                "CREATE TABLE line (invoice int, no int, fencing_token bigint NOT NULL DEFAULT 0, UNIQUE (no, invoice))",
                "INSERT INTO line VALUES (1, 2, 5)");
        RowFence lines = RowFence.onColumn("fencing_token").key("invoice", "no");
        String upsert = "INSERT INTO line (invoice, no, {fence.column}) VALUES (?, ?, {fence.token})"
                + " ON CONFLICT (\"no\", INVOICE) DO UPDATE SET {fence.set} WHERE {fence.where line}";

        assertThat(refused(lines, 4, upsert, 1, 2).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(lines.expecting(ExpectedRows.any()), 4, upsert, 1, 2).reason())
                .isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(RowFence.onColumn("fencing_token").key("invoice"), 4, upsert, 1, 2)
                        .reason())
                .as("another row of the invoice may be in the way, and this one is newer")
                .isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(RowFence.onColumn("fencing_token").key("invoice"), 4, upsert, 8, 2))
                .isNull();
    }

    @Test
    void anInsertThatATriggerKeepsOut_isUnknown() throws SQLException {
        Sql.execute(
                connection,
                "CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                "CREATE TRIGGER keep_out BEFORE INSERT ON invoice FOR EACH ROW EXECUTE FUNCTION keep_out()");

        assertThat(refused(9, UPSERT, 9, "new").reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refused(9, UPSERT.substring(0, UPSERT.indexOf("ON")), 9, "new")
                        .reason())
                .isEqualTo(Reason.UNKNOWN);
    }

    private void assertRefusesAnOpenExpectation(String sql) {
        assertThatThrownBy(() -> fence.expecting(ExpectedRows.any()).update(connection, FakeLease.of(4), sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("Expect exactly(n) rows");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE invoice i SET status = ?, {fence.set} FROM draft d WHERE d.id = i.id AND i.id = ? AND {fence.where i}",
                "UPDATE invoice SET status = ?, {fence.set} FROM draft i JOIN draft d USING (id) WHERE {fence.where invoice}"
                        + " AND d.id = invoice.id AND invoice.id = ?",
                "WITH d AS (SELECT id FROM draft) UPDATE invoice SET status = ?, {fence.set} FROM d WHERE d.id = invoice.id AND"
                        + " (invoice.id = ?) AND {fence.where invoice}",
                "WITH RECURSIVE d (n) AS NOT MATERIALIZED (VALUES (1) UNION SELECT n + 1 FROM d WHERE n < 2), e AS (SELECT 1)"
                        + " UPDATE ONLY invoice AS i SET status = ?, {fence.set} FROM d WHERE d.n = i.id AND i.id = ? AND"
                        + " {fence.where i}",
            })
    void anUpdateFromSecondTables_isFencedOnItsTarget(String sql) throws SQLException {
        Sql.execute(
                connection,
                "CREATE TABLE draft (id int, fencing_token bigint DEFAULT 0)",
                "INSERT INTO draft VALUES (1)");
        connection.setAutoCommit(false);

        FencedOutException refusal = refused(4, sql, "x", 1);
        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.key().orElseThrow()).endsWith("id = 1");
        assertThat(refused(9, sql, "x", 99)).isInstanceOf(NoMatchingRowException.class);
        assertThat(fence.update(connection, FakeLease.of(5), sql, "x", 1)).isEqualTo(1);
        assertThat(refused(fence.expecting(ExpectedRows.any()), 4, sql, "x", 1).reason())
                .isEqualTo(Reason.SUPERSEDED);
        connection.commit();
        assertThat(invoice(1)).isEqualTo("x|5");
    }

    @Test
    void aDeleteUsingASecondTable_isFencedOnItsTarget() throws SQLException {
        Sql.execute(connection, "CREATE TABLE draft (id int)", "INSERT INTO draft VALUES (1), (1), (3)");
        String delete = "DELETE FROM invoice i USING draft d WHERE d.id = i.id AND {fence.where i}";
        connection.setAutoCommit(false);

        PartiallyFencedException partial =
                (PartiallyFencedException) refused(fence.expecting(ExpectedRows.any()), 4, delete);
        assertThat(partial.written()).isEqualTo(1);
        assertThat(partial.skipped()).as("rows, not pairs").isEqualTo(1);
        connection.rollback();
        assertThat(fence.expecting(ExpectedRows.exactly(2)).update(connection, FakeLease.of(5), delete))
                .isEqualTo(2);
    }

    @Test
    void withTheSecondTableFencedInstead_theStaleWriteWouldPass() throws SQLException {
        Sql.execute(
                connection,
                "CREATE TABLE draft (id int, fencing_token bigint DEFAULT 0)",
                "INSERT INTO draft VALUES (1)");
        String wrong =
                "UPDATE invoice i SET status = 'x', {fence.set} FROM draft d WHERE d.id = i.id AND {fence.where d}";

        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(4), wrong))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("write {fence.where i}");
        Sql.execute(
                connection,
                "UPDATE invoice i SET status = 'x', fencing_token = 4 FROM draft d WHERE d.id = i.id AND d.fencing_token <= 4");
        assertThat(invoice(1)).as("what the refused statement would have done").isEqualTo("x|4");
    }
}
