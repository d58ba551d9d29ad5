package io.ringfence.examples;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.ResourceFence;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;

/**
 * A process that leads with the default ttl until it has lost its lease, and closes an invoice batch whenever it is told a
 * number: with its lease, with the token of it, and at last with a new lease. Ends with its input.
 */
final class FrozenCloserMain {
    private final InvoiceBatches batches = new InvoiceBatches();
    private final ResourceFence fence;

    private FrozenCloserMain(HikariDataSource pool) {
        fence = ResourceFence.on(pool, "invoices");
    }

    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[1]);
        config.setUsername(args[2]);
        config.setPassword(args[3]);
        try (HikariDataSource pool = new HikariDataSource(config);
                Elections elections = ConsulElections.builder(args[0])
                        .lockDelay(Duration.ZERO)
                        .build()) {
            new FrozenCloserMain(pool).lead(elections.election("frozen-closer"));
        }
        System.exit(0);
    }

    private void lead(Election election) throws Exception {
        Scanner input = new Scanner(System.in, StandardCharsets.UTF_8);
        Lease lease = election.acquire();
        fence.raise(lease);
        System.out.println("leads " + lease.fencingToken());
        closeBatch(lease, input.nextLong());
        while (lease.isHeld()) {
            TimeUnit.MILLISECONDS.sleep(1); // until it is frozen for too long
        }
        System.out.println("lost " + lease.lossReason().orElseThrow());
        closeBatch(lease, input.nextLong());
        closeBatch(lease.fencingToken(), input.nextLong());
        Lease next = election.acquire();
        fence.raise(next);
        System.out.println("again " + next.fencingToken());
        closeBatch(next, input.nextLong());
        input.nextLine();
    }

    private void closeBatch(FencingTokenSource source, long batch) throws Exception {
        try {
            fence.useTransaction(source, connection -> batches.close(connection, source, batch, 10 * batch));
            System.out.println("batch " + batch + ": closed");
        } catch (RuntimeException e) {
            System.out.println("batch " + batch + ": " + e.getClass().getSimpleName());
        }
    }
}
