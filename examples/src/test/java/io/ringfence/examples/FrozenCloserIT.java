package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A real process, a real Consul and a real database; the process is frozen past its deadline, but not past its session. */
@ExtendWith(SharedServers.class)
class FrozenCloserIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern SESSION = Pattern.compile("\"Session\":\"([^\"]+)\"");

    @Test
    void refusesTheWritesOfALeaderThatWasFrozenFor12Seconds_atTheDefaultTtl(
            ConsulServer consul, PostgresDatabase database) throws Exception {
        try (Connection connection = database.dataSource().getConnection()) {
            InvoiceBatches.createTables(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO invoice_batch (id) SELECT generate_series(1, 5)");
            }
            try (ChildJvm closer = ChildJvm.start(
                            FrozenCloserMain.class,
                            List.of(),
                            consul.url(),
                            database.jdbcUrl(),
                            database.user(),
                            database.password());
                    Elections others = ConsulElections.builder(consul.url())
                            .lockDelay(Duration.ZERO)
                            .build()) {
                long token = token(closer.awaitLine("leads ", PATIENCE));
                closer.send("1");
                closer.awaitLine("batch 1: closed", PATIENCE);
                String session = session(consul);
                closer.freeze();
                Thread.sleep(12_000);
                assertThat(consul.get("/v1/session/info/" + session))
                        .as("nobody else can lead yet")
                        .contains(session);
                closer.resume();
                closer.awaitLine("lost DEADLINE_EXCEEDED", PATIENCE);
                closer.send("2");
                closer.awaitLine("batch 2: LeaseLostException", PATIENCE);

                long next = closeAsAnotherLeader(others, database, 3);
                assertThat(next).isGreaterThan(token);
                closer.send("4");
                closer.awaitLine("batch 4: FencedOutException", PATIENCE);
                assertThat(token(closer.awaitLine("again ", PATIENCE))).isGreaterThan(next);
                closer.send("5");
                closer.awaitLine("batch 5: closed", PATIENCE);
                closer.send("");
            }
            assertThat(closed(connection)).isEqualTo("1: 10, 3: 900, 5: 50");
        }
    }

    /** Leads, closes a batch and makes way again; returns the token. */
    private static long closeAsAnotherLeader(Elections elections, PostgresDatabase database, long batch)
            throws Exception {
        ResourceFence fence = ResourceFence.on(database.dataSource(), "invoices");
        try (Lease lease =
                elections.election("frozen-closer").tryAcquire(PATIENCE).orElseThrow()) {
            fence.raise(lease);
            fence.useTransaction(
                    lease, connection -> new InvoiceBatches().close(connection, lease, batch, 300 * batch));
            return lease.fencingToken().value();
        }
    }

    private static String closed(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT string_agg(id || ': ' || total, ', ' ORDER BY id)"
                        + " FROM invoice_batch WHERE status = 'closed'")) {
            row.next();
            return row.getString(1);
        }
    }

    private static String session(ConsulServer consul) {
        Matcher session = SESSION.matcher(consul.get("/v1/kv/ringfence/frozen-closer"));
        assertThat(session.find()).isTrue();
        return session.group(1);
    }

    private static long token(String line) {
        return Long.parseLong(line.substring(line.indexOf(' ') + 1));
    }
}
