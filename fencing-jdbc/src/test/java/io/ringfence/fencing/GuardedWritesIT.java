package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The fences in a database with guards: writers tell their token without doing anything for it. */
@ExtendWith(SharedServers.class)
class GuardedWritesIT {
    private static final String CLOSE = "UPDATE invoice SET status = ? WHERE id = ?";

    private final FenceSchema schema = FenceSchema.postgres().inSchema("public");
    private final RowFence rows = RowFence.onColumn("fencing_token").key("id");
    private final FakeLease lease = FakeLease.of(7);
    private final DataSource owner;
    private final DataSource writer;
    private final ResourceFence fence;

    GuardedWritesIT(PostgresDatabase empty) throws SQLException {
        owner = empty.dataSource();
        String role = FenceRoles.create(empty, "writer");
        writer = FenceRoles.dataSource(empty, role, "");
        fence = ResourceFence.on(writer, "invoices");
        Sql.execute(
                owner,
                schema.fenceTable(),
                schema.fenceFunctions(),
                schema.grantSeal(role),
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                schema.tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 0)",
                "GRANT ALL ON invoice TO " + role);
    }

    @BeforeEach
    void raise() throws SQLException, InterruptedException {
        raise(lease);
    }

    private void raise(FakeLease next) throws SQLException, InterruptedException {
        ResourceFence.on(owner, "invoices").raise(next);
    }

    private void guard() throws SQLException {
        Sql.execute(
                owner,
                schema.rowGuard("invoice"),
                schema.truncateGuard("invoice"),
                schema.commitGuard("invoice", "invoices"));
    }

    private List<String> invoices() throws SQLException {
        return Sql.rows(owner, "SELECT id, status, fencing_token FROM invoice ORDER BY id");
    }

    @Test
    void aTransactionStampsStatementsThatKnowNothingOfTokens() throws SQLException {
        guard();

        fence.useTransaction(lease, connection -> {
            Sql.execute(
                    connection,
                    "UPDATE invoice SET status = 'closed'",
                    "INSERT INTO invoice VALUES (3, 'new'), (4, 'new')",
                    "DELETE FROM invoice WHERE id = 4");
            rows.update(connection, lease, CLOSE, "again", 1);
        });

        assertThat(invoices()).containsExactly("1|again|7", "2|closed|7", "3|new|7");
    }

    @Test
    void aTransactionStillChoosesItsIsolation() throws SQLException {
        guard();

        fence.useTransaction(lease, connection -> {
            Sql.execute(connection, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
            assertThat(Sql.rows(connection, "SHOW transaction_isolation")).containsExactly("serializable");
            Sql.execute(connection, "UPDATE invoice SET status = 'closed'");
        });
        fence.useTransaction(lease, connection -> Sql.execute(connection, "SET TRANSACTION READ ONLY", "SELECT 1"));
    }

    @Test
    void aStaleTransactionMeetsTheGuardBeforeTheSeal() throws SQLException, InterruptedException {
        guard();
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'closed'"));

        assertThatThrownBy(() -> fence.useTransaction(
                        FakeLease.of(6), connection -> Sql.execute(connection, "UPDATE invoice SET status = 'x'")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.STALE_SQLSTATE));
        assertThatThrownBy(() -> fence.useTransaction(
                        FakeLease.of(6), connection -> Sql.execute(connection, "INSERT INTO invoice VALUES (9, 'x')")))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.observed()).hasValue(7));
        assertThat(invoices()).containsExactly("1|closed|7", "2|closed|7");
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void namesTheResourceOfTheTable_whenTheTransactionIsFencedByAnother(SealMode mode)
            throws SQLException, InterruptedException {
        Sql.execute(owner, schema.commitGuard("invoice", "pay \"roll\""));
        ResourceFence other = ResourceFence.on(owner, "invoices").sealMode(mode);
        ResourceFence.Action<SQLException> work =
                connection -> Sql.execute(connection, "UPDATE invoice SET status = 'x'");

        assertThatThrownBy(() -> other.useTransaction(lease, work))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.NOT_RAISED);
                    assertThat(e.target()).isEqualTo("resource 'pay \"roll\"'");
                });
        ResourceFence.on(owner, "pay \"roll\"").raise(FakeLease.of(9));
        assertThatThrownBy(() -> other.useTransaction(lease, work))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                    assertThat(e.target()).isEqualTo("resource 'pay \"roll\"'");
                    assertThat(e.observed()).hasValue(9);
                });
        assertThat(invoices()).contains("1|open|5");
    }

    @Test
    void costsAStatementOnlyWhereThereIsAGuard() throws SQLException {
        AtomicInteger statements = new AtomicInteger();
        DataSource counting = Wrapped.before(writer, "createStatement", statements::incrementAndGet);
        ResourceFence before = ResourceFence.on(counting, "invoices");
        before.useTransaction(lease, connection -> rows.update(connection, lease, CLOSE, "x", 1));
        assertThat(statements).hasValue(0);

        guard();
        RowFence fresh = RowFence.onColumn("fencing_token");
        ResourceFence.on(counting, "invoices")
                .useTransaction(lease, connection -> fresh.update(connection, lease, CLOSE, "x", 1));
        assertThat(statements).hasValue(1);
        try (Connection connection = counting.getConnection()) {
            fresh.update(connection, lease, CLOSE, "y", 1);
        }
        assertThat(statements)
                .as("a row fence tells its token within the statement")
                .hasValue(1);
    }

    @Test
    void autoCommitStaysOn_inEveryKindOfWrite() throws SQLException {
        guard();
        DataSource watched = Wrapped.before(writer, "setAutoCommit", () -> {
            throw new AssertionError("auto-commit was touched");
        });
        try (Connection connection = watched.getConnection()) {
            rows.update(connection, lease, CLOSE, "a", 1);
            rows.update(connection, lease, CLOSE, "b", 1);
            assertThat(rows.returning(
                            connection,
                            lease,
                            row -> row.getString(1),
                            "UPDATE invoice SET status = 'c' WHERE id = 1 RETURNING status || fencing_token"))
                    .containsExactly("c7");
            assertThat(rows.generatedKeys(connection, lease, List.of("id"), row -> row.getInt(1), CLOSE, "d", 2))
                    .containsExactly(2);
            rows.row("invoice").where("id", 3).set("status", "new").insert(connection, lease);
            rows.row("invoice").where("id", 3).set("status", "upserted").upsert(connection, lease);
            rows.row("invoice").where("id", 4).set("status", "upserted").upsert(connection, lease);
            rows.row("invoice").where("id", 1).delete(connection, lease);
            rows.update(
                    connection,
                    lease,
                    "DELETE FROM invoice USING (SELECT 2 AS two) x"
                            + " WHERE invoice.id = x.two AND {fence.where invoice}");
            rows.expecting(ExpectedRows.any())
                    .update(
                            connection,
                            lease,
                            "INSERT INTO invoice (id, status, {fence.column})"
                                    + " SELECT id + 10, 'copied', {fence.token} FROM invoice");
            assertThat(Sql.rows(connection, "SELECT current_setting('ringfence.token', true)"))
                    .containsExactly("");
        }
        assertThat(invoices()).containsExactly("3|upserted|7", "4|upserted|7", "13|copied|7", "14|copied|7");
    }

    @Test
    void theCallersTransactionIsSealedByTheGuardOfCommit() throws SQLException, InterruptedException {
        guard();
        try (Connection connection = writer.getConnection()) {
            connection.setAutoCommit(false);
            rows.update(connection, lease, CLOSE, "a", 1);
            rows.batch(CLOSE).add("b", 1).add("b", 2).execute(connection, lease);
            connection.commit();

            rows.batch(CLOSE).add("c", 1).add("c", 2).execute(connection, lease);
            raise(FakeLease.of(8));
            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.STALE_SQLSTATE));
        }
        assertThat(invoices()).containsExactly("1|b|7", "2|b|7");
    }

    @Test
    void aStatementInAutoCommitIsFencedOut_whenTheFenceWasRaised() throws SQLException, InterruptedException {
        guard();
        raise(FakeLease.of(8));

        try (Connection connection = writer.getConnection()) {
            assertThatThrownBy(() -> rows.update(connection, lease, CLOSE, "x", 1))
                    .isInstanceOfSatisfying(FencedOutException.class, e -> {
                        assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                        assertThat(e.target()).isEqualTo("resource 'invoices'");
                        assertThat(e.observed()).hasValue(8);
                        assertThat(e.presented()).isEqualTo(lease.fencingToken());
                    });
        }
        assertThat(invoices()).contains("1|open|5");
    }

    @Test
    void aCascadeIsTold_andRefusedIfItMeetsANewerLeader() throws SQLException {
        Sql.execute(
                owner,
                "CREATE TABLE line (id int PRIMARY KEY, invoice int REFERENCES invoice ON DELETE CASCADE)",
                schema.tokenColumn("line"),
                "INSERT INTO line VALUES (1, 1, 9), (2, 2, 5)",
                schema.rowGuard("line"));
        try (Connection connection = writer.getConnection()) {
            rows.row("invoice").where("id", 2).delete(connection, lease);

            assertThatThrownBy(() -> rows.row("invoice").where("id", 1).delete(connection, lease))
                    .isInstanceOfSatisfying(FencedOutException.class, e -> {
                        assertThat(e.target()).isEqualTo("table public.line");
                        assertThat(e.observed()).hasValue(9);
                    });
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> rows.batch("DELETE FROM invoice WHERE id = ?")
                            .add(1)
                            .execute(connection, lease))
                    .isInstanceOf(FencedOutException.class);
        }
        assertThat(Sql.rows(owner, "SELECT id FROM line")).containsExactly("1");
    }

    @Test
    void aGuardThatIsNew_costsOneRefusal() throws SQLException {
        try (Connection connection = writer.getConnection()) {
            rows.update(connection, lease, CLOSE, "a", 1);
            guard();

            assertThatThrownBy(() -> rows.update(connection, lease, CLOSE, "b", 1))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.UNFENCED_SQLSTATE));
            rows.update(connection, lease, CLOSE, "b", 1);
        }
        assertThat(invoices()).contains("1|b|7");
    }

    @Test
    void aGuardThatIsNew_costsOneTransaction() throws SQLException {
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'a'"));
        guard();

        assertThatThrownBy(() -> fence.useTransaction(
                        lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'b'")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.UNFENCED_SQLSTATE));
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'c'"));

        assertThat(invoices()).containsExactly("1|c|7", "2|c|7");
    }

    @Test
    void aGuardOfCommitThatIsNew_costsOneTransaction() throws SQLException {
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'a'"));
        Sql.execute(owner, schema.commitGuard("invoice", "invoices"));

        assertThatThrownBy(() -> fence.useTransaction(
                        lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'b'")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.UNFENCED_SQLSTATE));
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE invoice SET status = 'c'"));

        assertThat(invoices()).containsExactly("1|c|5", "2|c|0");
    }

    @Test
    void aGuardThatIsNew_costsOneTransactionOfADataSource() throws SQLException {
        DataSource fenced = FencedDataSource.of(writer, fence, () -> lease);
        Sql.execute(fenced, "UPDATE invoice SET status = 'a'");
        guard();

        assertThatThrownBy(() -> Sql.execute(fenced, "UPDATE invoice SET status = 'b'"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.UNFENCED_SQLSTATE));
        Sql.execute(fenced, "UPDATE invoice SET status = 'c'");

        assertThat(invoices()).containsExactly("1|c|7", "2|c|7");
    }

    @Test
    void aDroppedGuardDoesNoHarm() throws SQLException {
        guard();
        try (Connection connection = writer.getConnection()) {
            rows.update(connection, lease, CLOSE, "a", 1);
            fence.useTransaction(lease, inside -> rows.update(inside, lease, CLOSE, "b", 1));
            Sql.execute(owner, schema.dropGuards("invoice"));
            rows.update(connection, lease, CLOSE, "c", 1);
            fence.useTransaction(lease, inside -> rows.update(inside, lease, CLOSE, "d", 1));
        }
        assertThat(invoices()).contains("1|d|7");
    }
}
