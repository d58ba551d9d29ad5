package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the guard of COMMIT does for plain connections, in a role that has no right on the fence. */
@ExtendWith(SharedServers.class)
class CommitGuardIT {
    private static final String SCHEMA = "\"The \"\"Fence\"\" $body$ 'x' %\"";
    private static final String RESOURCE = "it's \"ours\" \\ %";
    private static final String INSERT = "INSERT INTO t VALUES (1)";

    private final FenceSchema schema = FenceSchema.postgres().inSchema(SCHEMA);
    private final DataSource owner;
    private final DataSource writer;
    private final ResourceFence fence;

    CommitGuardIT(PostgresDatabase empty) throws SQLException {
        owner = empty.dataSource();
        String role = FenceRoles.create(empty, "writer");
        writer = FenceRoles.dataSource(empty, role, "");
        fence = ResourceFence.on(owner, RESOURCE).inSchema(SCHEMA).raiseTimeout(Duration.ofMillis(500));
        Sql.execute(
                owner,
                "CREATE SCHEMA " + SCHEMA,
                schema.fenceTable(),
                schema.fenceFunctions(),
                "CREATE TABLE t (v int)",
                "CREATE TABLE unguarded (v int)",
                "GRANT ALL ON t, unguarded TO " + role);
    }

    @BeforeEach
    void guard() throws SQLException, InterruptedException {
        for (int round = 0; round < 2; round++) {
            Sql.execute(owner, schema.commitGuard("t", RESOURCE));
        }
        fence.raise(FakeLease.of(7));
    }

    private static String token(long token) {
        return "SET LOCAL ringfence.token = '" + token + "'";
    }

    private String rows() throws SQLException {
        return Sql.one(owner, "SELECT count(*) FROM t");
    }

    private void refuses(String state, String... statements) {
        FenceGuardsIT.refuses(writer, state, statements);
    }

    @Test
    void commitsWithTheTokenOfTheFenceOnly() throws SQLException {
        FenceGuardsIT.run(writer, token(7), INSERT, INSERT, "UPDATE t SET v = 2", "DELETE FROM t");
        FenceGuardsIT.run(writer, token(7), INSERT);

        refuses("RF002", INSERT);
        refuses("RF002", "DELETE FROM t");
        refuses("RF001", token(6), INSERT);
        refuses("RF001", token(6), "UPDATE t SET v = 9");
        refuses("RF003", token(8), INSERT);
        assertThat(Sql.rows(owner, "SELECT v FROM t")).containsExactly("1");
        FenceGuardsIT.run(writer, "DELETE FROM t WHERE false", "INSERT INTO unguarded VALUES (1)");
    }

    @Test
    void refusesEvenAStatementInAutoCommit() throws SQLException {
        assertThatThrownBy(() -> Sql.execute(writer, INSERT))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("RF002"));
        assertThat(rows()).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTransactionThatIsOvertakenBeforeItsCommit_isRefused_andCommitsWithoutTheGuard(boolean guarded)
            throws SQLException, InterruptedException {
        if (!guarded) {
            Sql.execute(owner, schema.dropGuards("t"));
        }
        try (Connection connection = writer.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(connection, token(7), INSERT);
            fence.raise(FakeLease.of(8));
            if (guarded) {
                assertThatThrownBy(connection::commit)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("RF001"))
                        .hasMessageContaining("fence at token 8, election \"invoices\", holder \"process-8\"")
                        .hasMessageContaining("token 7 may not commit to resource \"" + RESOURCE + "\"")
                        .hasMessageContaining("to which public.t belongs")
                        .hasMessageContaining("Stop the work of the former leader");
            } else {
                connection.commit();
            }
        }
        assertThat(rows()).isEqualTo(guarded ? "0" : "1");
    }

    @Test
    void aSnapshotOlderThanTheRaise_isASerializationFailure() throws SQLException, InterruptedException {
        try (Connection connection = writer.getConnection()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            Sql.execute(connection, token(7), INSERT);
            fence.raise(FakeLease.of(8));
            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        }
        assertThat(rows()).isEqualTo("0");
    }

    /** Whoever checks early holds the fence until the end. */
    @Test
    void keepsARaiseOut_fromAnEarlyCheckToTheEnd() throws SQLException, InterruptedException {
        try (Connection connection = writer.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(connection, token(7), INSERT, "SET CONSTRAINTS ALL IMMEDIATE", INSERT);
            assertThatThrownBy(() -> fence.raise(FakeLease.of(8))).isInstanceOf(FencingException.class);
            connection.commit();
        }
        fence.raise(FakeLease.of(8));
        assertThat(rows()).isEqualTo("2");
    }

    @Test
    void checksAgain_whenTheLockWentWithASavepoint() throws SQLException, InterruptedException {
        try (Connection connection = writer.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(
                    connection,
                    token(7),
                    INSERT,
                    "SAVEPOINT s",
                    "SET CONSTRAINTS ALL IMMEDIATE",
                    "ROLLBACK TO SAVEPOINT s");
            fence.raise(FakeLease.of(8));
            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("RF001"));
        }
        assertThat(rows()).isEqualTo("0");
    }

    @Test
    void checksAgain_whenTheTokenChanges() {
        refuses("RF001", token(7), INSERT, "SET CONSTRAINTS ALL IMMEDIATE", token(6), INSERT);
        refuses("RF002", token(7), INSERT, "SET CONSTRAINTS ALL IMMEDIATE", "SET LOCAL ringfence.token = ''", INSERT);
    }

    @Test
    void forgetsWhatASavepointTookBack() throws SQLException {
        FenceGuardsIT.run(writer, "SAVEPOINT s", INSERT, "ROLLBACK TO SAVEPOINT s", "INSERT INTO unguarded VALUES (1)");
    }

    @Test
    void asksEachResourceOfATransaction() throws SQLException {
        Sql.execute(owner, "CREATE TABLE u (v int)", "GRANT ALL ON u TO PUBLIC", schema.commitGuard("u", "other"));

        refuses("RF003", token(7), INSERT, "INSERT INTO u VALUES (1)");
        refuses("RF003", token(7), "INSERT INTO u VALUES (1)", INSERT);
    }

    @Test
    void isOfTheResourceThatWasNamedLast() {
        FenceGuardsIT.refuses(owner, "RF003", schema.commitGuard("t", "other"), token(7), INSERT);
    }

    @Test
    void whatACallerCreatesHasNoEffect() {
        refuses(
                "RF001",
                "CREATE TEMP TABLE ringfence_fence AS SELECT 'x'::text AS resource, 'e'::text AS election,"
                        + " 6::bigint AS token, 'h'::text AS holder",
                "SET LOCAL search_path = pg_temp, public, pg_catalog",
                token(6),
                "INSERT INTO public.t VALUES (1)");
    }

    @Test
    void coversPartitions() throws SQLException {
        Sql.execute(
                owner,
                "CREATE TABLE part (id int) PARTITION BY RANGE (id)",
                "CREATE TABLE low PARTITION OF part FOR VALUES FROM (0) TO (10)",
                schema.commitGuard("part", RESOURCE),
                schema.commitGuard("part", RESOURCE),
                "CREATE TABLE high PARTITION OF part FOR VALUES FROM (10) TO (20)",
                "GRANT ALL ON part, low, high TO PUBLIC");

        refuses("RF002", "INSERT INTO part VALUES (1)");
        refuses("RF002", "INSERT INTO high VALUES (11)");
        FenceGuardsIT.run(writer, token(7), "INSERT INTO part VALUES (1)", "UPDATE part SET id = 11");
        refuses("RF001", token(6), "UPDATE part SET id = 1");

        Sql.execute(owner, schema.dropGuards("part"));
        FenceGuardsIT.run(writer, "INSERT INTO part VALUES (2)");
    }

    @Test
    void theDropScriptLeavesNothing() throws SQLException {
        Sql.execute(owner, schema.dropGuards("t"), schema.dropGuards("t"), schema.dropFence());

        FenceGuardsIT.run(writer, INSERT);
        assertThat(Sql.rows(owner, FenceGuardsIT.INSTALLED)).isEmpty();
    }
}
