package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.PartiallyFencedException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The example of many rows, batches and upserts does what its javadoc says. */
@ExtendWith(SharedServers.class)
class BatchMaintenanceIT {
    private static final FencingToken STALE = new FencingToken(6);
    private static final FencingToken LEADER = new FencingToken(7);

    private final BatchMaintenance maintenance = new BatchMaintenance();
    private final Connection connection;

    BatchMaintenanceIT(PostgresDatabase database) throws SQLException {
        this.connection = database.dataSource().getConnection();
    }

    @BeforeEach
    void createTables() throws SQLException {
        InvoiceBatches.createTables(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO invoice_batch (id) VALUES (1), (2)");
        }
        connection.setAutoCommit(false);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private String batch(long id) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT status || ' ' || fencing_token FROM invoice_batch WHERE id = " + id)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void cancelsAllOrReportsThoseOfANewerLeader() throws SQLException {
        maintenance.open(connection, LEADER, 1);

        assertThatExceptionOfType(PartiallyFencedException.class)
                .isThrownBy(() -> maintenance.cancelOpen(connection, STALE))
                .satisfies(partial -> assertThat(partial.skipped()).isEqualTo(1));
        assertThat(maintenance.cancelOpen(connection, LEADER)).isEqualTo(1);
        assertThat(maintenance.cancelOpen(connection, LEADER)).isZero();
    }

    @Test
    void closesManyAtOnce() throws SQLException {
        Map<Long, Long> totals = new TreeMap<>(Map.of(1L, 100L, 2L, 200L));

        maintenance.closeAll(connection, LEADER, totals);

        assertThat(batch(2)).isEqualTo("closed 7");
        assertThatExceptionOfType(FencedOutException.class)
                .isThrownBy(() -> maintenance.closeAll(connection, STALE, totals))
                .satisfies(refused -> assertThat(refused.entries()).containsExactly(0, 1));
    }

    @Test
    void opensWhatIsNewOrOlder() throws SQLException {
        maintenance.open(connection, LEADER, 3);

        assertThat(batch(3)).isEqualTo("open 7");
        assertThatExceptionOfType(FencedOutException.class)
                .isThrownBy(() -> maintenance.open(connection, STALE, 3))
                .satisfies(refused -> assertThat(refused.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED));
    }
}
