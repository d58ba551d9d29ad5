package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.Lease;
import io.ringfence.election.testing.InMemoryElections;
import io.ringfence.election.testing.InMemoryLockService;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.PartiallyFencedException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class JdbiCloserIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final PostgresDatabase database;
    private final JdbiCloser closer;
    private final Jdbi jdbi;

    JdbiCloserIT(PostgresDatabase database) {
        this.database = database;
        this.closer = new JdbiCloser(database.dataSource());
        this.jdbi = closer.jdbi();
    }

    @BeforeEach
    void createTables() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            InvoiceBatches.createTables(connection);
        }
    }

    private void addBatches(int count) {
        jdbi.useTransaction(handle -> {
            handle.execute("INSERT INTO invoice_batch (id) SELECT id FROM generate_series(1, ?) id", count);
            handle.execute("INSERT INTO invoice SELECT id, 10 * id FROM generate_series(1, ?) id", count);
        });
    }

    private String one(String sql) {
        return jdbi.withHandle(
                handle -> handle.createQuery(sql).mapTo(String.class).one());
    }

    @Test
    void everyBatchIsClosedAndPaidOutOnce(ConsulServer consul) {
        addBatches(20);

        try (ChildJvm process = ChildJvm.start(
                JdbiCloser.class, List.of(), consul.url(), database.jdbcUrl(), database.user(), database.password())) {
            process.awaitLine("closed batch 20 ", PATIENCE);
        }

        assertThat(one("SELECT count(*) FROM invoice_batch WHERE status = 'closed' AND total = 10 * id"))
                .isEqualTo("20");
        assertThat(one("SELECT count(*) || ' of ' || count(DISTINCT batch_id) FROM payout"))
                .isEqualTo("20 of 20");
    }

    @Test
    void theRepositoryIsRefusedTheCommit_afterAnotherProcessTookTheLead() throws Exception {
        addBatches(3);
        try (InMemoryElections elections = new InMemoryLockService().elections("jdbi");
                Lease lease = elections.election("closer").tryAcquire().orElseThrow()) {
            ResourceFence.on(database.dataSource(), "invoices").raise(lease);
            assertThat(closer.closeNext(lease)).hasValue(1);

            elections.disconnect(); // it still thinks that it leads, when another process raises the fence
            jdbi.useHandle(handle -> handle.execute("UPDATE ringfence_fence SET token = token + 1"));
            assertThatThrownBy(() -> closer.closeNext(lease)).isInstanceOf(FencedOutException.class);
            assertThat(one("SELECT string_agg(amount::text, ' ') FROM payout")).isEqualTo("10");
        }
    }

    @Test
    void theMethodsWrite_untilANewerLeaderHasWrittenTheRows() {
        addBatches(3);
        try (InMemoryElections elections = new InMemoryLockService().elections("jdbi");
                Lease lease = elections.election("closer").tryAcquire().orElseThrow()) {
            jdbi.useExtension(JdbiInvoices.class, invoices -> {
                invoices.closeAll(lease, List.of(1L, 2L));
                assertThat(invoices.cancelOpen(lease)).containsExactly(3L);
                assertThat(invoices.cancelOpen(lease)).isEmpty();
                invoices.open(lease, 4);
                closer.reopen(lease, 1);
                invoices.close(lease, 1, 5);
                assertThatThrownBy(() -> invoices.close(lease, 1, 5)).isInstanceOf(NoMatchingRowException.class);

                elections.disconnect(); // it still thinks that it leads, when another process writes
                jdbi.useHandle(handle -> handle.execute(
                        "UPDATE invoice_batch SET fencing_token = fencing_token + 1 WHERE id IN (1, 4)"));
                assertThatThrownBy(() -> invoices.closeAll(lease, List.of(3L, 1L)))
                        .isInstanceOfSatisfying(
                                PartiallyFencedException.class,
                                partial -> assertThat(partial.entries()).containsExactly(1));
                assertThatThrownBy(() -> invoices.cancelOpen(lease)).isInstanceOf(FencedOutException.class);
                assertThatThrownBy(() -> invoices.open(lease, 4)).isInstanceOf(FencedOutException.class);
                assertThatThrownBy(() -> closer.reopen(lease, 1)).isInstanceOf(FencedOutException.class);
            });
        }
        assertThat(one("SELECT string_agg(status, ' ' ORDER BY id) FROM invoice_batch"))
                .isEqualTo("closed closed cancelled open");
    }
}
