package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Which refusals of a row fence keep a Ringfence transaction from committing, even when its work swallows them. */
@ExtendWith(SharedServers.class)
class RowFenceInTransactionIT extends RowFenceFixture {
    private final FakeLease lease = FakeLease.of(4);
    private ResourceFence resource;

    RowFenceInTransactionIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @BeforeEach
    void raise() throws SQLException, InterruptedException {
        Sql.execute(dataSource, FenceSchema.postgres().fenceTable());
        resource = ResourceFence.on(dataSource, "invoices");
        resource.raise(lease);
    }

    interface Write {
        void run(RowFence fence, Connection connection, FakeLease lease) throws SQLException;
    }

    private static Write update(ExpectedRows expected, String sql) {
        return (fence, connection, lease) -> fence.expecting(expected).update(connection, lease, sql);
    }

    static Stream<Arguments> poisoning() {
        Write batch = (fence, connection, lease) ->
                fence.batch(CLOSE).add("x", 3).add("x", 1).execute(connection, lease);
        Write keyless = (fence, connection, lease) -> RowFence.onColumn("fencing_token")
                .update(connection, lease, "UPDATE invoice SET status = 'x' WHERE id = 99");
        return Stream.of(
                Arguments.of("superseded", update(ExpectedRows.one(), "DELETE FROM invoice WHERE id = 1")),
                Arguments.of("partial", update(ExpectedRows.any(), "UPDATE invoice SET status = 'x'")),
                Arguments.of("too many", update(ExpectedRows.one(), "UPDATE invoice SET status = 'x' WHERE id > 2")),
                Arguments.of("unknown", keyless),
                Arguments.of("batch", batch));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("poisoning")
    void isRolledBack_whenTheWorkSwallowsARefusal(String name, Write write) throws SQLException {
        Sql.execute(dataSource, "INSERT INTO invoice VALUES (4, 'open', 0)");

        assertThatThrownBy(() -> resource.useTransaction(lease, inside -> {
                    fence.update(inside, lease, CLOSE, "closed", 3);
                    assertThatThrownBy(() -> write.run(fence, inside, lease)).isInstanceOf(FencingException.class);
                }))
                .isInstanceOf(FencingException.class);
        assertThat(invoice(3)).isEqualTo("open|0");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("poisoning")
    void commitsThePartAlone_inATransactionOfTheCaller(String name, Write write) throws SQLException {
        Sql.execute(dataSource, "INSERT INTO invoice VALUES (4, 'open', 0)");
        connection.setAutoCommit(false);

        fence.update(connection, lease, CLOSE, "closed", 3);
        assertThatThrownBy(() -> write.run(fence, connection, lease)).isInstanceOf(FencingException.class);
        connection.commit();

        assertThat(invoice(3)).as("why to roll back, or to let Ringfence do it").doesNotStartWith("open");
    }

    @Test
    void insertsAfterAMissingRow() throws SQLException {
        resource.useTransaction(lease, inside -> {
            assertThatThrownBy(() -> fence.update(inside, lease, CLOSE, "x", 9))
                    .isInstanceOf(NoMatchingRowException.class);
            fence.update(inside, lease, "INSERT INTO invoice (id, {fence.column}) VALUES (?, {fence.token})", 9);
        });

        assertThat(invoice(9)).isEqualTo("null|4");
    }

    @Test
    void isIndeterminate_whenTheDriverRewritesTheBatch(PostgresDatabase other)
            throws SQLException, InterruptedException {
        PGSimpleDataSource rewriting = (PGSimpleDataSource) other.dataSource();
        rewriting.setReWriteBatchedInserts(true);
        Sql.execute(
                rewriting,
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                FenceSchema.postgres().tokenColumn("invoice"),
                FenceSchema.postgres().fenceTable());
        ResourceFence fenced = ResourceFence.on(rewriting, "invoices");
        fenced.raise(lease);
        String insert = "INSERT INTO invoice (id, {fence.column}) VALUES (?, {fence.token})";
        String upsert = insert + " ON CONFLICT (id) DO UPDATE SET {fence.set} WHERE {fence.where invoice}";

        assertThatThrownBy(() -> fenced.useTransaction(
                        lease, inside -> four(fence.batch(insert)).execute(inside, lease)))
                .isInstanceOf(IndeterminateCountException.class)
                .hasMessageContaining("reWriteBatchedInserts");
        assertThat(fenced.<long[], SQLException>inTransaction(
                        lease, inside -> four(fence.batch(upsert)).execute(inside, lease)))
                .as("the parameters of the fence behind the values keep the driver from it")
                .containsExactly(1, 1, 1, 1);
    }

    private static FencedBatch four(FencedBatch batch) {
        for (int id = 1; id <= 4; id++) {
            batch.add(id);
        }
        return batch;
    }
}
