package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.testing.InMemoryElections;
import io.ringfence.election.testing.InMemoryLockService;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How to test code that leads without a Consul: the leaders are in memory, the database is real. */
@ExtendWith(SharedServers.class)
class InvoiceBatchesIT {
    private final InvoiceBatches batches = new InvoiceBatches();
    private final Connection connection;

    InvoiceBatchesIT(PostgresDatabase database) throws SQLException {
        this.connection = database.dataSource().getConnection();
    }

    @BeforeEach
    void createTables() throws SQLException {
        InvoiceBatches.createTables(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO invoice_batch (id) VALUES (1), (2)");
        }
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void refusesALeaderThatWasFrozen_whenAnotherOneWrote() throws SQLException {
        InMemoryLockService locks = new InMemoryLockService();
        InMemoryElections frozen = locks.elections("frozen");
        InMemoryElections other = locks.elections("other");
        Lease stale = frozen.election("invoices").tryAcquire().orElseThrow();

        frozen.pause();
        locks.advance(Duration.ofSeconds(25)); // the TTL of its session, then the lock delay
        Lease next = other.election("invoices").tryAcquire().orElseThrow();
        batches.close(connection, next, 1, 900);

        // it asked for its token before it was frozen, and writes with it now
        assertThatExceptionOfType(FencedOutException.class)
                .isThrownBy(() -> batches.close(connection, stale.fencingToken(), 1, 600));
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> batches.close(connection, stale, 2, 600));
        frozen.resume();
        assertThat(stale.isHeld()).isFalse();
    }
}
