package io.ringfence.examples.demo;

import io.ringfence.examples.InvoiceBatches;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Shows on a real Consul and a real PostgreSQL what a leader does that was frozen past its lease and wakes up: with a
 * fence, and without one.
 *
 * <p>Every line is printed by the process that did it, and the table is read from the database. It exits with 0 only if
 * the fence refused both stale writes, and both of them went through where there was none: a demo whose control finds no
 * fault shows nothing.
 */
public final class PausedLeaderDemo {
    private static final String SHORT_SESSIONS = "{\"session_ttl_min\": \"1s\"}";

    private PausedLeaderDemo() {}

    /**
     * Runs the demo, for about half a minute.
     *
     * @param args none
     */
    public static void main(String[] args) {
        System.exit(run() ? 0 : 1);
    }

    private static boolean run() {
        try (ConsulServer consul = ConsulServer.start(SHORT_SESSIONS);
                PostgresServer postgres = PostgresServer.start()) {
            PostgresDatabase database = postgres.createDatabase();
            try (Connection connection = database.dataSource().getConnection()) {
                InvoiceBatches.createTables(connection);
            }
            System.out.println(
                    "\nA leader is frozen while it closes a batch of invoices, and wakes up when another one leads.");
            System.out.println("  time     who    token");
            Scene scene = new Scene(consul, database, System.currentTimeMillis());
            Scene.Outcome fenced = scene.play("fenced", 1, "A", "B");
            System.out.println("The same without a fence, only with the election:");
            Scene.Outcome plain = scene.play("plain", 2, "C", "D");
            return judge(fenced, plain);
        } catch (SQLException | InterruptedException | RuntimeException e) {
            System.out.println("The demo FAILED: " + e);
            return false;
        }
    }

    private static boolean judge(Scene.Outcome fenced, Scene.Outcome plain) {
        System.out.println();
        System.out.printf("  in the database     %12s %12s%n", "fenced", "not fenced");
        System.out.printf("  total of the batch  %12d %12d%n", fenced.total(), plain.total());
        System.out.printf("  paid out            %12d %12d%n", fenced.paidOut(), plain.paidOut());
        System.out.printf("  invoices            %12d %12d%n%n", Scene.ALL_INVOICES, Scene.ALL_INVOICES);
        if (!fenced.isRight()) {
            System.out.println("The demo FAILED: a stale write was accepted in spite of the fence.");
        } else if (!plain.isCorruptedInEveryWay()) {
            System.out.println("The demo FAILED: the control run without a fence did not show the fault.");
        } else {
            System.out.println(
                    "With the fence nothing of the frozen leader's work got through. Without it, an update was"
                            + " lost and money paid twice.");
        }
        return fenced.isRight() && plain.isCorruptedInEveryWay();
    }
}
