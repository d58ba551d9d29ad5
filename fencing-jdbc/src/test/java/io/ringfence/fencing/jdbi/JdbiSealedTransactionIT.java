package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.Sql;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.SerializableTransactionRunner;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Transactions of JDBI that a resource fence seals. */
@Tag("jdbi")
@ExtendWith(SharedServers.class)
class JdbiSealedTransactionIT {
    private final FakeLease older = FakeLease.of(4);
    private final FakeLease newer = FakeLease.of(7);
    private final JdbiFence fence = JdbiFence.onColumn("fencing_token").key("id");
    private final HikariDataSource pool;
    private final ResourceFence resource;
    private final InvoiceTable invoices;
    private final Jdbi jdbi;

    JdbiSealedTransactionIT(PostgresDatabase empty) throws SQLException {
        invoices = new InvoiceTable(empty.dataSource()).create();
        Sql.execute(
                empty.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions());
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(empty.jdbcUrl());
        config.setUsername(empty.user());
        config.setPassword(empty.password());
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        resource = ResourceFence.on(empty.dataSource(), "invoices");
        jdbi = Jdbi.create(pool).installPlugin(new SqlObjectPlugin()).installPlugin(fence);
    }

    @BeforeEach
    void raise() throws Exception {
        resource.raise(older);
    }

    @AfterEach
    void close() {
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        pool.close();
    }

    interface Invoices {
        @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id")
        void unfenced(String status, int id);

        @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id")
        void fenced(@Fenced Lease lease, String status, int id);

        @Transaction
        default void both(Lease lease, String status) {
            unfenced(status, 1);
            fenced(lease, status, 3);
        }
    }

    private void raiseNewer() {
        try {
            resource.raise(newer);
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void commitsWhatTheLeaderWrote() throws SQLException {
        assertThat(fence.<String, RuntimeException>inTransaction(jdbi, resource, older, handle -> {
                    handle.attach(Invoices.class).both(older, "x");
                    return "done";
                }))
                .isEqualTo("done");

        assertThat(invoices.row(1)).isEqualTo("x|5");
        assertThat(invoices.row(3)).isEqualTo("x|4");
    }

    @Test
    void refusesToCommit_afterANewerLeaderHasRaised() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(jdbi, resource, older, handle -> {
                    handle.execute("INSERT INTO invoice (id, status) VALUES (9, 'x')");
                    handle.attach(Invoices.class).unfenced("x", 1);
                    raiseNewer();
                }))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(7);
                });
        assertThat(invoices.row(1)).isEqualTo("open|5");

        jdbi.useTransaction(handle -> handle.attach(Invoices.class).unfenced("stale", 1));
        assertThat(invoices.row(1)).as("without the seal").isEqualTo("stale|5");
    }

    @Test
    void rollsBack_whenARefusalIsSwallowed_evenBehindASavepoint() throws SQLException {
        try (Handle handle = jdbi.open()) {
            assertThatThrownBy(() -> fence.useTransaction(handle, resource, older, inside -> {
                        Invoices object = inside.attach(Invoices.class);
                        object.fenced(older, "x", 3);
                        inside.savepoint("before");
                        assertThat(catchThrowable(() -> object.fenced(older, "x", 1)))
                                .isInstanceOf(FencedOutException.class);
                        inside.rollbackToSavepoint("before");
                    }))
                    .isInstanceOf(FencedOutException.class)
                    .hasMessageContaining("In Invoices.fenced: ");
            assertThat(handle.isInTransaction()).isFalse();
            assertThat(handle.getConnection().getAutoCommit()).isTrue();

            fence.useTransaction(handle, resource, older, inside -> {
                Invoices object = inside.attach(Invoices.class);
                assertThat(catchThrowable(() -> object.fenced(older, "x", 99)))
                        .isInstanceOf(NoMatchingRowException.class);
                object.fenced(older, "later", 3);
            });
        }
        assertThat(invoices.row(3)).isEqualTo("later|4");
    }

    @Test
    void rollsBack_andThrowsWhatTheWorkThrew() throws SQLException {
        Exception own = new Exception("own");

        assertThatThrownBy(() -> fence.<Exception>useTransaction(jdbi, resource, older, handle -> {
                    handle.attach(Invoices.class).unfenced("x", 1);
                    throw own;
                }))
                .isSameAs(own);
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    void sealsEveryCommit_alsoOneInTheMidst() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(jdbi, resource, older, handle -> {
                    Invoices object = handle.attach(Invoices.class);
                    object.unfenced("first", 1);
                    handle.commit();
                    object.unfenced("second", 2);
                    raiseNewer();
                    object.unfenced("third", 3);
                }))
                .isInstanceOf(FencedOutException.class);

        assertThat(invoices.row(1)).isEqualTo("first|5");
        assertThat(invoices.row(2)).isEqualTo("second|5");
        assertThat(invoices.row(3)).isEqualTo("open|0");
    }

    @Test
    void refusesTransactionControlInText() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(jdbi, resource, older, handle -> {
                    handle.attach(Invoices.class).unfenced("x", 1);
                    handle.execute("COMMIT");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("COMMIT");
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    void asksTheLeaseFirst_andOnceForATransaction() throws SQLException {
        older.lose();
        AtomicInteger calls = new AtomicInteger();

        assertThatThrownBy(() -> fence.useTransaction(jdbi, resource, older, handle -> calls.incrementAndGet()))
                .isInstanceOf(LeaseLostException.class);

        assertThat(calls).hasValue(0);
    }

    @Test
    void refusesAnotherToken() {
        assertThatThrownBy(() -> fence.useTransaction(
                        jdbi,
                        resource,
                        older,
                        handle -> handle.attach(Invoices.class).fenced(newer, "x", 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("one transaction, one token");
    }

    @Test
    void refusesToBegin_insideATransactionThatIsNotSealed() throws SQLException {
        jdbi.useTransaction(handle -> {
            assertThatThrownBy(() -> fence.useTransaction(handle, resource, older, inside -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("call JdbiFence.inTransaction first");
            assertThatThrownBy(() -> fence.useTransaction(jdbi, resource, older, inside -> {}))
                    .isInstanceOf(IllegalStateException.class);
        });
        assertThatThrownBy(() -> fence.useTransaction(Jdbi.create(pool), resource, older, inside -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("installPlugin");
    }

    @Test
    void runsTheUsersTransactionHandlerAndCallbacks() throws SQLException {
        List<String> events = new ArrayList<>();
        jdbi.setTransactionHandler(new SerializableTransactionRunner());

        try (Handle handle = jdbi.open()) {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.SERIALIZABLE);
            fence.useTransaction(handle, resource, older, inside -> {
                inside.afterCommit(() -> events.add("committed"));
                inside.attach(Invoices.class).unfenced("x", 1);
                assertThat(inside.getTransactionIsolationLevel()).isEqualTo(TransactionIsolationLevel.SERIALIZABLE);
            });
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.READ_COMMITTED);
            assertThat(catchThrowable(() -> fence.useTransaction(handle, resource, older, inside -> {
                        inside.afterCommit(() -> events.add("not committed"));
                        inside.afterRollback(() -> events.add("rolled back"));
                        inside.attach(Invoices.class).unfenced("y", 1);
                        raiseNewer();
                    })))
                    .isInstanceOf(FencedOutException.class);
        }

        assertThat(events).containsExactly("committed", "rolled back");
        assertThat(invoices.row(1)).isEqualTo("x|5");
    }
}
