package io.ringfence.examples.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.FencedOutException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * One of two processes that want to lead. It ends with its standard input, so it does not outlive the demo.
 *
 * <p>The slow one computes for a while between reading a batch and writing it, and that is when the demo freezes it. The
 * other one leads when the slow one's session has expired.
 */
final class Leader {
    static final Duration SESSION_TTL = Duration.ofSeconds(3);
    static final String READS = "reads batch";
    static final String CLOSED = "closes batch";
    static final String PAYS = "pays out";
    static final String OVERWRITES = "overwrites the total";
    static final String REFUSED = "REFUSED";
    static final String WRITTEN = "written";
    static final String ASKS = "asks: its lease is";
    private static final Duration COMPUTING = Duration.ofSeconds(2);

    private final Narration narration;
    private final DataSource dataSource;
    private final Writes writes;
    private final long batch;

    private Leader(Narration narration, DataSource dataSource, Writes writes, long batch) {
        this.narration = narration;
        this.dataSource = dataSource;
        this.writes = writes;
        this.batch = batch;
    }

    /** Arguments: fenced or plain, slow or fast, name, begin, Consul, JDBC URL, user, password, batch. */
    public static void main(String[] args) throws Exception {
        endWithInput();
        Narration narration = new Narration(args[2], Long.parseLong(args[3]));
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[5]);
        config.setUsername(args[6]);
        config.setPassword(args[7]);
        config.setMaximumPoolSize(2);
        try (HikariDataSource pool = new HikariDataSource(config);
                Elections elections = ConsulElections.builder(args[4])
                        .sessionTtl(SESSION_TTL)
                        .lockDelay(SESSION_TTL)
                        .build()) {
            Lease lease = elections.election("invoices-" + args[0]).acquire();
            narration.leadsWith(lease.fencingToken());
            Writes writes = args[0].equals("fenced") ? new FencedWrites(pool, lease) : new PlainWrites(pool);
            writes.takeOffice();
            narration.say("leads" + (args[0].equals("fenced") ? " and raises the fence" : ""));
            Leader leader = new Leader(narration, pool, writes, Long.parseLong(args[8]));
            if (args[1].equals("slow")) {
                leader.workSlowly(lease);
            } else {
                leader.work();
            }
            Thread.currentThread().join(); // the demo ends this process
        }
    }

    private void work() throws SQLException {
        long[] total = new long[1];
        writes.inTransaction(connection -> {
            total[0] = Batch.sumOfInvoices(connection, batch);
            writes.update(connection, Batch.CLOSE, total[0], batch);
            Batch.payOut(connection, batch, total[0]);
        });
        narration.say(CLOSED + " " + batch + ": total " + total[0] + ", pays out " + total[0]);
    }

    private void workSlowly(Lease lease) throws SQLException, InterruptedException {
        long[] total = new long[1];
        tell(
                PAYS,
                () -> writes.inTransaction(connection -> {
                    total[0] = Batch.sumOfInvoices(connection, batch);
                    narration.say(READS + " " + batch + ": total " + total[0] + "; its lease is " + state(lease));
                    compute();
                    Batch.payOut(connection, batch, total[0]);
                }),
                total);
        tell(
                OVERWRITES,
                () -> {
                    try (Connection connection = dataSource.getConnection()) {
                        writes.update(connection, Batch.CLOSE, total[0], batch);
                    }
                },
                total);
        narration.say(ASKS + " " + state(lease));
    }

    private static String state(Lease lease) {
        return lease.lossReason().map(reason -> "lost, " + reason).orElse("held");
    }

    private void tell(String what, Write write, long[] total) throws SQLException {
        try {
            write.run();
            narration.say(what + " " + total[0] + ": " + WRITTEN);
        } catch (FencedOutException e) {
            narration.say(what + " " + total[0] + ": " + REFUSED + ", for token "
                    + e.observed().orElse(0) + " was seen");
        }
    }

    private static void compute() {
        try {
            Thread.sleep(COMPUTING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void endWithInput() {
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    Thread.onSpinWait(); // nothing is ever sent
                }
            } catch (IOException e) {
                System.err.println("input failed: " + e);
            }
            System.exit(0);
        });
        reader.setDaemon(true);
        reader.start();
    }

    @FunctionalInterface
    private interface Write {
        void run() throws SQLException;
    }
}
