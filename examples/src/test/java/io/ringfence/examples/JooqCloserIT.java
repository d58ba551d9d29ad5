package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.testing.InMemoryElections;
import io.ringfence.election.testing.InMemoryLockService;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class JooqCloserIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @Test
    void everyBatchIsClosedAndPaidOutOnce(ConsulServer consul, PostgresDatabase database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            InvoiceBatches.createTables(connection);
            addBatches(connection, 20);
            try (ChildJvm closer = ChildJvm.start(
                    JooqCloser.class,
                    List.of(),
                    consul.url(),
                    database.jdbcUrl(),
                    database.user(),
                    database.password())) {
                closer.awaitLine("closed batch 20 ", PATIENCE);
            }
            assertThat(one(
                            connection,
                            "SELECT count(*) FROM invoice_batch WHERE status = 'closed' AND total = 10 * id"
                                    + " AND fencing_token > 0"))
                    .isEqualTo("20");
            assertThat(one(connection, "SELECT count(*) || ' of ' || count(DISTINCT batch_id) FROM payout"))
                    .isEqualTo("20 of 20");
        }
    }

    @Test
    void aFormerLeaderIsRefused_byTheRowAndByTheSeal(PostgresDatabase database) throws Exception {
        JooqInvoices invoices = new JooqInvoices();
        DSLContext dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        try (Connection connection = database.dataSource().getConnection();
                InMemoryElections elections = new InMemoryLockService().elections("jooq");
                Lease lease = elections.election("closer").tryAcquire().orElseThrow()) {
            InvoiceBatches.createTables(connection);
            addBatches(connection, 3);
            JooqCloser closer = new JooqCloser(database.dataSource());
            LeaderLoop.Work work = closer.work();
            Thread leading = new Thread(() -> {
                try {
                    work.lead(lease);
                } catch (Exception e) {
                    Thread.currentThread().interrupt();
                }
            });
            leading.start();
            await().atMost(PATIENCE)
                    .until(() -> one(connection, "SELECT count(*) FROM payout").equals("3"));
            leading.interrupt();
            leading.join();

            elections.disconnect();
            // it still thinks that it leads, when another process raises the fence and writes
            one(connection, "UPDATE ringfence_fence SET token = token + 1 RETURNING token");
            one(connection, "UPDATE invoice_batch SET fencing_token = 99, status = 'open' WHERE id = 1 RETURNING id");
            assertThatThrownBy(() -> closer.closeNext(lease)).isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> invoices.open(dsl, lease, 1)).isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> dsl.transaction(inside -> invoices.closeAll(inside.dsl(), lease, Map.of(1L, 5L))))
                    .isInstanceOf(FencedOutException.class);
            assertThat(one(connection, "SELECT string_agg(amount::text, ' ' ORDER BY amount) FROM payout"))
                    .isEqualTo("10 20 30");
            invoices.open(dsl, lease, 7);
            assertThat(one(connection, "SELECT status FROM invoice_batch WHERE id = 7"))
                    .isEqualTo("open");
        }
    }

    private static void addBatches(Connection connection, int to) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            String ids = " FROM generate_series(1, " + to + ") id";
            statement.execute("BEGIN; INSERT INTO invoice_batch (id) SELECT id" + ids
                    + "; INSERT INTO invoice SELECT id, 4 * id" + ids + "; INSERT INTO invoice SELECT id, 6 * id" + ids
                    + "; COMMIT");
        }
    }

    private static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
