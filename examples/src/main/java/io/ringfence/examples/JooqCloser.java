package io.ringfence.examples;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.jooq.SealedTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Closes invoice batches as {@link InvoiceCloser} does, by jOOQ in a {@link LeaderLoop}: the transactions are sealed by a
 * resource fence, and the batches carry the token of a row fence.
 */
public final class JooqCloser {
    private static final Duration PAUSE_WHEN_IDLE = Duration.ofMillis(500);

    private final JooqInvoices invoices = new JooqInvoices();
    private final AtomicReference<@Nullable Lease> current = new AtomicReference<>();
    private final ResourceFence fence;
    private final DSLContext dsl;

    JooqCloser(DataSource pool) {
        fence = ResourceFence.on(pool, "invoices");
        DSLContext plain = DSL.using(pool, SQLDialect.POSTGRES);
        dsl = SealedTransactions.on(plain.configuration(), fence, current::get).dsl();
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
            JooqCloser closer = new JooqCloser(pool);
            try (Elections elections = ConsulElections.builder(args[0]).build();
                    LeaderLoop loop = elections.election("jooq-closer").lead(closer.work())) {
                System.out.println("takes part in " + loop.election());
                new CountDownLatch(1).await();
            }
        }
    }

    /** What the leader does: raises the fence, then closes batches as long as it leads. */
    LeaderLoop.Work work() {
        return fence.raiseBefore(lease -> {
            current.set(lease);
            while (lease.isHeld()) {
                Optional<Long> closed = closeNext(lease);
                if (closed.isPresent()) {
                    System.out.println("closed batch " + closed.get() + " with token " + lease.fencingToken());
                } else {
                    Thread.sleep(PAUSE_WHEN_IDLE.toMillis());
                }
            }
        });
    }

    /** Closes one batch in a transaction that is sealed; empty if there was none. */
    Optional<Long> closeNext(Lease lease) {
        return dsl.transactionResult(inside -> {
            Optional<Long> open = invoices.nextOpen(inside.dsl());
            open.ifPresent(batch -> {
                long total = invoices.total(inside.dsl(), batch);
                invoices.close(inside.dsl(), lease, batch, total);
                invoices.payOut(inside.dsl(), batch, total);
            });
            return open;
        });
    }
}
