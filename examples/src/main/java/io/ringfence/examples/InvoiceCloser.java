package io.ringfence.examples;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.ResourceFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;
import javax.sql.DataSource;

/**
 * Closes invoice batches, in one process at a time, in plain JDBC over a HikariCP pool. Start it as often as you like, on
 * as many machines: whoever is frozen or cut off, no batch is closed by two of them.
 */
public final class InvoiceCloser {
    private static final Duration PAUSE_WHEN_IDLE = Duration.ofMillis(500);

    private final InvoiceBatches batches = new InvoiceBatches();

    private InvoiceCloser() {}

    /**
     * Runs until it is ended.
     *
     * @param args the address of a Consul agent, and a JDBC URL, user and password of a PostgreSQL database
     * @throws SQLException if the database cannot be used
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws SQLException, InterruptedException {
        if (args.length != 4) {
            System.err.println("Usage: InvoiceCloser <consul address> <jdbc url> <user> <password>");
            System.exit(2);
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[1]);
        config.setUsername(args[2]);
        config.setPassword(args[3]);
        config.setMaximumPoolSize(4);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            try (Connection connection = pool.getConnection()) {
                InvoiceBatches.createTables(connection);
            }
            new InvoiceCloser().closeBatches(args[0], pool);
        }
    }

    private void closeBatches(String consul, DataSource dataSource) throws SQLException, InterruptedException {
        ResourceFence fence = ResourceFence.on(dataSource, "invoices");
        try (Elections elections = ConsulElections.builder(consul).build()) {
            Election election = elections.election("invoice-closer");
            while (true) {
                try (Lease lease = election.acquire()) { // waits until this process leads
                    fence.raise(lease); // from here on no transaction of a former leader commits
                    while (lease.isHeld()) {
                        OptionalLong closed = fence.inTransaction(lease, connection -> closeNext(connection, lease));
                        tell(closed, lease); // only now: it is committed
                    }
                } catch (LeaseLostException | FencedOutException e) {
                    System.out.println("this term is over: " + e.getMessage());
                }
            }
        }
    }

    /** Closes one batch in the transaction of the connection; empty if there was none. */
    private OptionalLong closeNext(Connection connection, Lease lease) throws SQLException {
        OptionalLong open = batches.nextOpen(connection);
        if (open.isPresent()) {
            long batch = open.getAsLong();
            long total = batches.total(connection, batch);
            batches.close(connection, lease, batch, total);
            batches.payOut(connection, batch, total);
        }
        return open;
    }

    private static void tell(OptionalLong closed, Lease lease) throws InterruptedException {
        if (closed.isPresent()) {
            System.out.println("closed batch " + closed.getAsLong() + " with token " + lease.fencingToken());
        } else {
            Thread.sleep(PAUSE_WHEN_IDLE.toMillis());
        }
    }
}
