package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class InvoiceCloserIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final String NOT_RIGHT =
            "SELECT count(*) FROM invoice_batch b WHERE status <> 'closed' OR total IS DISTINCT FROM 10 * id"
                    + " OR (SELECT array_agg(amount) FROM payout WHERE batch_id = b.id) IS DISTINCT FROM ARRAY[10 * id]";

    @Test
    void everyBatchIsClosedAndPaidOutOnce_whenTheLeaderIsKilled(ConsulServer consul, PostgresDatabase database)
            throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            InvoiceBatches.createTables(connection);
            try (ChildJvm first = closer(consul.url(), database.jdbcUrl(), database.user(), database.password());
                    ChildJvm second = closer(consul.url(), database.jdbcUrl(), database.user(), database.password())) {
                addBatches(connection, 1, 300);
                await().atMost(PATIENCE).until(() -> isLeading(first) || isLeading(second));
                ChildJvm leader = isLeading(first) ? first : second;
                ChildJvm follower = leader == first ? second : first;
                leader.kill();
                addBatches(connection, 301, 320);
                follower.awaitLine("closed batch 320 ", PATIENCE);
            }
            assertThat(count(connection, NOT_RIGHT)).isZero();
            assertThat(count(connection, "SELECT count(*) FROM payout")).isEqualTo(320);
        }
    }

    @Test
    void saysWhatIsWrong_whenTheDatabaseRefusesThePassword(ConsulServer consul, PostgresDatabase database) {
        try (ChildJvm closer = closer(consul.url(), database.jdbcUrl(), database.user(), "wrong")) {
            assertThat(closer.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(closer.lines()).anyMatch(line -> line.contains("password authentication failed for user"));
        }
    }

    @Test
    void printsItsUsage_whenArgumentsAreMissing() {
        try (ChildJvm closer = closer()) {
            assertThat(closer.awaitExit(PATIENCE)).isEqualTo(2);
            assertThat(closer.lines()).anyMatch(line -> line.startsWith("Usage: "));
        }
    }

    private static ChildJvm closer(String... arguments) {
        return ChildJvm.start(InvoiceCloser.class, List.of(), arguments);
    }

    private static boolean isLeading(ChildJvm closer) {
        return closer.lines().stream().anyMatch(line -> line.startsWith("closed batch"));
    }

    private static void addBatches(Connection connection, int from, int to) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            String ids = " FROM generate_series(" + from + ", " + to + ") id";
            statement.execute("BEGIN; INSERT INTO invoice_batch (id) SELECT id" + ids
                    + "; INSERT INTO invoice SELECT id, 4 * id" + ids + "; INSERT INTO invoice SELECT id, 6 * id" + ids
                    + "; COMMIT");
        }
    }

    private static long count(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
