package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What fenced statements return, on PostgreSQL. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class ReturningIT extends RowFenceFixture {
    private static final String CLOSE_RETURNING = CLOSE + " RETURNING id, status AS \"where\"";

    ReturningIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @Test
    void returnsTheRowsThatWereWritten() throws SQLException {
        assertThat(fence.returning(
                        connection,
                        FakeLease.of(7),
                        row -> row.getInt(1) + row.getString(2),
                        CLOSE_RETURNING,
                        "closed",
                        1))
                .containsExactly("1closed");
        assertThat(fence.expecting(ExpectedRows.any())
                        .returning(
                                connection,
                                FakeLease.of(7),
                                row -> row.getInt(1),
                                "DELETE FROM invoice WHERE id < 3 -- all\n RETURNING id;"))
                .containsExactly(1, 2);
    }

    @Test
    void isRefused_whenTheTokenIsLower() throws SQLException {
        assertThatThrownBy(() ->
                        fence.returning(connection, FakeLease.of(4), row -> row.getInt(1), CLOSE_RETURNING, "x", 1))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void countsTheRows_whenNobodyAsksForThem() throws SQLException {
        assertThat(fence.update(connection, FakeLease.of(7), CLOSE_RETURNING, "closed", 1))
                .isEqualTo(1);
        assertThat(refused(4, CLOSE_RETURNING, "x", 1).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThatThrownBy(
                        () -> fence.update(connection, FakeLease.of(7), "UPDATE invoice SET status = 'x' RETURNING id"))
                .isInstanceOfSatisfying(
                        TooManyRowsException.class, e -> assertThat(e.rows()).isEqualTo(3));
    }

    @Test
    void countsTheRows_withASmallFetchSize() throws SQLException {
        connection.setAutoCommit(false);
        connection.unwrap(org.postgresql.PGConnection.class).setDefaultFetchSize(1);

        List<Integer> ids = fence.expecting(ExpectedRows.exactly(3))
                .returning(
                        connection,
                        FakeLease.of(7),
                        row -> row.getInt(1),
                        "UPDATE invoice SET status = 'x' RETURNING id");

        assertThat(ids).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    void returnsGeneratedKeys() throws SQLException {
        Sql.execute(
                connection, "CREATE SEQUENCE ids START 50", "ALTER TABLE invoice ALTER id SET DEFAULT nextval('ids')");
        String insert = "INSERT INTO invoice (status, {fence.column}) VALUES (?, {fence.token}) -- new";

        assertThat(fence.generatedKeys(
                        connection, FakeLease.of(7), List.of("id"), row -> row.getInt(1), insert, "fresh"))
                .containsExactly(50);
        assertThat(invoice(50)).isEqualTo("fresh|7");
        assertThat(fence.generatedKeys(
                        connection,
                        FakeLease.of(7),
                        List.of("id", "status"),
                        row -> row.getString(2),
                        CLOSE,
                        "closed",
                        1))
                .containsExactly("closed");
        assertThatThrownBy(() -> fence.generatedKeys(
                        connection, FakeLease.of(4), List.of("id"), row -> row.getInt(1), CLOSE, "x", 1))
                .isInstanceOf(FencedOutException.class);
    }

    @Test
    void saysWhichMethodToCall() {
        assertThatThrownBy(() -> fence.returning(connection, FakeLease.of(7), row -> row.getInt(1), CLOSE, "x", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no RETURNING");
        assertThatThrownBy(() -> fence.generatedKeys(
                        connection, FakeLease.of(7), List.of("id"), row -> row.getInt(1), CLOSE_RETURNING, "x", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("returning(..)");
        assertThatThrownBy(() -> {
                    connection.setAutoCommit(false);
                    fence.batch(CLOSE_RETURNING).add("x", 1).execute(connection, FakeLease.of(7));
                })
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("A batch returns no rows");
    }

    @Test
    void doesNotCommit_whenTheMapperFails() throws SQLException {
        connection.setAutoCommit(false);

        assertThatThrownBy(() -> fence.returning(
                        connection,
                        FakeLease.of(7),
                        row -> {
                            throw new IllegalStateException("no");
                        },
                        CLOSE_RETURNING,
                        "x",
                        1))
                .hasMessage("no");
        connection.rollback();
        assertThat(invoice(1)).isEqualTo("open|5");
        assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
    }
}
