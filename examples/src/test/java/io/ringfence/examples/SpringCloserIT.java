package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.Lease;
import io.ringfence.election.testing.InMemoryElections;
import io.ringfence.election.testing.InMemoryLockService;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.ResourceFence;
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
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

@ExtendWith(SharedServers.class)
class SpringCloserIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @Test
    void everyBatchIsClosedAndPaidOutOnce(ConsulServer consul, PostgresDatabase database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            InvoiceBatches.createTables(connection);
            addBatches(connection, 1, 20);
            try (ChildJvm closer = ChildJvm.start(
                    SpringCloser.class,
                    List.of(),
                    consul.url(),
                    database.jdbcUrl(),
                    database.user(),
                    database.password())) {
                closer.awaitLine("closed batch 20 ", PATIENCE);
            }
            assertThat(one(
                            connection,
                            "SELECT count(*) FROM invoice_batch WHERE status = 'closed' AND total = 10 * id"))
                    .isEqualTo("20");
            assertThat(one(connection, "SELECT count(*) || ' of ' || count(DISTINCT batch_id) FROM payout"))
                    .isEqualTo("20 of 20");
        }
    }

    @Test
    void theServiceIsRefusedTheCommit_afterAnotherProcessTookTheLead_andCannotWriteWithoutALease(
            PostgresDatabase database) throws Exception {
        ResourceFence fence = ResourceFence.on(database.dataSource(), "invoices");
        AtomicReference<Lease> current = new AtomicReference<>();
        DataSource fenced = FencedDataSource.of(database.dataSource(), fence, current::get);
        try (Connection connection = database.dataSource().getConnection();
                InMemoryElections elections = new InMemoryLockService().elections("spring");
                Lease lease = elections.election("closer").tryAcquire().orElseThrow();
                AnnotationConfigApplicationContext spring = SpringCloser.start(fenced)) {
            InvoiceBatches.createTables(connection);
            addBatches(connection, 1, 3);
            fence.raise(lease);
            SpringInvoices invoices = spring.getBean(SpringInvoices.class);
            assertThatThrownBy(invoices::closeNext).isInstanceOf(NoLeaseException.class);

            current.set(lease);
            assertThat(invoices.closeNext()).hasValue(1);
            elections.disconnect(); // it still thinks that it leads, when another process raises the fence
            one(connection, "UPDATE ringfence_fence SET token = token + 1 RETURNING token");
            assertThatThrownBy(invoices::closeNext).isInstanceOf(FencedOutException.class);
            assertThat(one(connection, "SELECT string_agg(amount::text, ' ') FROM payout"))
                    .isEqualTo("10");
        }
    }

    private static void addBatches(Connection connection, int from, int to) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            String ids = " FROM generate_series(" + from + ", " + to + ") id";
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
