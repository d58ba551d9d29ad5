package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ringfence.election.Lease;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.transaction.SerializableTransactionRunner;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jdbi.v3.sqlobject.SqlObject;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.jdbi.v3.sqlobject.statement.BatchChunkSize;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A refused write ends the transaction of JDBI that it was in, whoever swallows it. */
@Tag("jdbi")
@ExtendWith(SharedServers.class)
class JdbiTransactionIT {
    private final FakeLease fresh = FakeLease.of(4);
    private final JdbiFence fence = JdbiFence.onColumn("fencing_token").key("id");
    private final InvoiceTable invoices;
    private final Jdbi jdbi;

    JdbiTransactionIT(PostgresDatabase empty) throws SQLException {
        invoices = new InvoiceTable(empty.dataSource()).create();
        jdbi = Jdbi.create(empty.dataSource())
                .installPlugin(new SqlObjectPlugin())
                .installPlugin(fence);
    }

    interface Closing extends SqlObject {
        @SqlUpdate("UPDATE invoice SET status = 'x' WHERE id = :id")
        void close(@Fenced Lease lease, int id);

        @Transaction
        @SqlUpdate("UPDATE invoice SET status = 'x' WHERE id = :id")
        void closeInTransaction(@Fenced Lease lease, int id);

        @Transaction(TransactionIsolationLevel.SERIALIZABLE)
        @SqlBatch("UPDATE invoice SET status = 'x' WHERE id = :ids")
        @BatchChunkSize(1)
        void closeAll(@Fenced Lease lease, List<Integer> ids);

        @Transaction
        default void closeAndSwallow(Lease lease, int id) {
            close(lease, 3);
            swallow(() -> close(lease, id));
        }

        @Transaction
        default void closeInOuterAndSwallow(Lease lease, int id) {
            close(lease, 3);
            swallow(() -> closeInTransaction(lease, id));
        }

        @Transaction(TransactionIsolationLevel.REPEATABLE_READ)
        default void closeAndSwallowAtALevel(Lease lease, int id) {
            closeAndSwallowAtTheSameLevel(lease, id);
        }

        @Transaction(TransactionIsolationLevel.REPEATABLE_READ)
        default void closeAndSwallowAtTheSameLevel(Lease lease, int id) {
            closeAndSwallow(lease, id);
        }

        default void closeInUnmarkedTransaction(Lease lease, int id) {
            useHandle(handle -> handle.useTransaction(inside -> closeAndSwallow(lease, id)));
        }
    }

    /** How a user begins and commits a transaction. */
    @FunctionalInterface
    interface Way {
        void run(JdbiTransactionIT test, int id) throws SQLException;
    }

    static void swallow(Runnable write) {
        assertThat(catchThrowable(write::run)).isNotInstanceOf(AssertionError.class);
    }

    /** Writes to the invoice 3, which may be, and to another, and swallows what that throws. */
    private void write(Handle handle, int id) {
        String sql = "UPDATE invoice SET status = 'x' WHERE id = ?";
        fence.on(handle, fresh).execute(sql, 3);
        swallow(() -> fence.on(handle, fresh).execute(sql, id));
    }

    private Closing closing() {
        return jdbi.onDemand(Closing.class);
    }

    static Stream<Arguments> ways() {
        TransactionIsolationLevel level = TransactionIsolationLevel.SERIALIZABLE;
        return Stream.of(
                way(
                        "handle.useTransaction",
                        (t, id) -> t.jdbi.useHandle(handle -> handle.useTransaction(inside -> t.write(inside, id)))),
                way(
                        "handle.inTransaction",
                        (t, id) -> t.jdbi.useHandle(handle -> handle.inTransaction(inside -> {
                            t.write(inside, id);
                            return 1;
                        }))),
                way(
                        "handle.useTransaction(level)",
                        (t, id) -> t.jdbi.useHandle(
                                handle -> handle.useTransaction(level, inside -> t.write(inside, id)))),
                way(
                        "handle.inTransaction(level)",
                        (t, id) -> t.jdbi.useHandle(handle -> handle.inTransaction(level, inside -> {
                            t.write(inside, id);
                            return 1;
                        }))),
                way("jdbi.useTransaction", (t, id) -> t.jdbi.useTransaction(inside -> t.write(inside, id))),
                way(
                        "jdbi.useTransaction(level)",
                        (t, id) -> t.jdbi.useTransaction(level, inside -> t.write(inside, id))),
                way(
                        "jdbi.inTransaction",
                        (t, id) -> t.jdbi.inTransaction(inside -> {
                            t.write(inside, id);
                            return 1;
                        })),
                way(
                        "nested",
                        (t, id) -> t.jdbi.useTransaction(
                                outside -> outside.useTransaction(inside -> t.write(inside, id)))),
                way(
                        "begin and commit",
                        (t, id) -> t.jdbi.useHandle(handle -> {
                            handle.begin();
                            try {
                                t.write(handle, id);
                                handle.commit();
                            } finally {
                                handle.rollback();
                            }
                        })),
                way(
                        "savepoint",
                        (t, id) -> t.jdbi.useTransaction(handle -> {
                            t.fence.on(handle, t.fresh).execute("UPDATE invoice SET status = 'x' WHERE id = 3");
                            handle.savepoint("before");
                            t.write(handle, id);
                            handle.rollbackToSavepoint("before");
                        })),
                way(
                        "connection",
                        (t, id) -> t.jdbi.useHandle(handle -> {
                            handle.getConnection().setAutoCommit(false);
                            t.write(handle, id);
                            handle.getConnection().setAutoCommit(true);
                        })),
                way("own TransactionHandler", (t, id) -> {
                    t.jdbi.setTransactionHandler(new SerializableTransactionRunner());
                    t.jdbi.useTransaction(level, inside -> t.write(inside, id));
                }),
                way("@Transaction", (t, id) -> t.closing().closeAndSwallow(t.fresh, id)),
                way("@Transaction in @Transaction", (t, id) -> t.closing().closeInOuterAndSwallow(t.fresh, id)),
                way("@Transaction in useTransaction", (t, id) -> t.closing().closeInUnmarkedTransaction(t.fresh, id)));
    }

    private static Arguments way(String name, Way way) {
        return Arguments.of(name, way);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ways")
    void rollsBack_andThrowsTheRefusal_whenItIsSwallowed(String name, Way way) throws SQLException {
        assertThatThrownBy(() -> way.run(this, 1)).isInstanceOf(FencedOutException.class);

        assertThat(invoices.row(3)).isEqualTo("open|0");
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ways")
    void commits_whenARowIsOnlyMissing(String name, Way way) throws SQLException {
        way.run(this, 99);

        assertThat(invoices.row(3)).isEqualTo("x|4");
    }

    @Test
    void commitsWhatCameBefore_withoutThePlugin() throws SQLException {
        Jdbi.create(jdbi.open().getConnection()).useTransaction(handle -> {
            handle.execute("UPDATE invoice SET status = 'x' WHERE id = 3");
            swallow(() -> {
                throw new IllegalStateException("a refusal that nobody remembers");
            });
        });

        assertThat(invoices.row(3)).isEqualTo("x|0");
    }

    @Test
    void keepsTheLevelOfTheTransaction() throws SQLException {
        jdbi.useHandle(handle -> {
            Closing object = handle.attach(Closing.class);
            assertThatThrownBy(() -> object.closeAll(fresh, List.of(3, 1))).isInstanceOf(FencedOutException.class);
            object.closeInTransaction(fresh, 3);
            object.closeAll(FakeLease.of(7), List.of(1, 2));
            handle.useTransaction(inside -> assertThatThrownBy(() -> object.closeAndSwallowAtALevel(fresh, 3))
                    .as("JDBI refuses a nested transaction of another level")
                    .hasMessageContaining("isolation level"));
        });
        assertThat(invoices.row(3)).isEqualTo("x|4");
        assertThat(invoices.row(2)).isEqualTo("x|7");
    }

    @Test
    void refusesASecondToken() {
        jdbi.useTransaction(handle -> {
            fence.on(handle, fresh).execute("UPDATE invoice SET status = 'x' WHERE id = 3");

            assertThatThrownBy(() ->
                            fence.on(handle, FakeLease.of(7)).execute("UPDATE invoice SET status = 'x' WHERE id = 3"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("one transaction, one token");
        });
    }

    @Test
    void forgetsARefusal_whenTheTransactionIsRolledBack() throws SQLException {
        try (Handle handle = jdbi.open()) {
            handle.begin();
            write(handle, 1);
            assertThatThrownBy(() -> handle.execute("COMMIT")).isInstanceOf(IllegalStateException.class);
            handle.rollback();

            handle.useTransaction(inside -> write(inside, 99));
        }
        assertThat(invoices.row(3)).isEqualTo("x|4");
    }

    @Test
    void runsABatchInATransactionOfItsOwn_orInTheOneThatIsOpen() throws SQLException {
        try (Handle handle = jdbi.open()) {
            assertThatThrownBy(() -> batch(handle, 3, 1).execute()).isInstanceOf(FencedOutException.class);
            assertThat(invoices.row(3)).isEqualTo("open|0");
            assertThat(handle.isInTransaction()).isFalse();

            handle.begin();
            batch(handle, 3).execute();
            assertThat(invoices.row(3)).as("not committed yet").isEqualTo("open|0");
            assertThatThrownBy(() -> batch(handle, 99).execute()).isInstanceOf(NoMatchingRowException.class);
            handle.commit();
            assertThat(invoices.row(3)).isEqualTo("x|4");

            assertThat(batch(handle, 3)
                            .executePreparedBatch("id")
                            .mapTo(Integer.class)
                            .list())
                    .containsExactly(3);
        }
    }

    private PreparedBatch batch(Handle handle, int... ids) {
        PreparedBatch batch = fence.on(handle, fresh).prepareBatch("UPDATE invoice SET status = 'x' WHERE id = ?");
        for (int id : ids) {
            batch.add(id);
        }
        return batch;
    }
}
