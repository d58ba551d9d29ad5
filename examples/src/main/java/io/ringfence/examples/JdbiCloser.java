package io.ringfence.examples;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.jdbi.JdbiFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;

/** Closes invoice batches as {@link InvoiceCloser} does, through a repository of JDBI. */
public final class JdbiCloser {
    private static final Duration PAUSE_WHEN_IDLE = Duration.ofMillis(500);

    private final Jdbi jdbi;
    private final JdbiFence rows;
    private final ResourceFence fence;

    JdbiCloser(DataSource pool) {
        fence = ResourceFence.on(pool, "invoices");
        rows = JdbiFence.onColumn(FenceSchema.TOKEN_COLUMN).key("id");
        jdbi = Jdbi.create(pool).installPlugin(new SqlObjectPlugin()).installPlugin(rows);
    }

    /**
     * Runs until it is ended.
     *
     * @param args the address of a Consul agent, and a JDBC URL, user and password of a PostgreSQL database
     * @throws SQLException if the database cannot be used
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws SQLException, InterruptedException {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(args[1]);
            pool.setUsername(args[2]);
            pool.setPassword(args[3]);
            try (Connection connection = pool.getConnection()) {
                InvoiceBatches.createTables(connection);
            }
            try (Elections elections = ConsulElections.builder(args[0]).build()) {
                new JdbiCloser(pool).closeBatches(elections, new CountDownLatch(1));
            }
        }
    }

    private void closeBatches(Elections elections, CountDownLatch shutdown) throws InterruptedException {
        try (LeaderLoop loop = elections.election("jdbi-closer").lead(fence.raiseBefore(this::closeWhileHeld))) {
            System.out.println("takes part in " + loop.election());
            shutdown.await();
        }
    }

    private void closeWhileHeld(Lease lease) throws InterruptedException {
        while (lease.isHeld()) {
            OptionalLong closed = closeNext(lease);
            if (closed.isPresent()) {
                System.out.println("closed batch " + closed.getAsLong() + " with token " + lease.fencingToken());
            } else {
                Thread.sleep(PAUSE_WHEN_IDLE.toMillis());
            }
        }
    }

    OptionalLong closeNext(Lease lease) {
        return rows.inTransaction(
                jdbi, fence, lease, handle -> handle.attach(JdbiInvoices.class).closeNext(lease));
    }

    /** The same without a SQL object. */
    void reopen(Lease lease, long batch) {
        jdbi.useHandle(handle -> rows.on(handle, lease)
                .createUpdate("UPDATE invoice_batch SET status = 'open' WHERE id = :id")
                .bind("id", batch)
                .execute());
    }

    Jdbi jdbi() {
        return jdbi;
    }
}
