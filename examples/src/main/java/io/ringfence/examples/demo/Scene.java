package io.ringfence.examples.demo;

import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.PostgresDatabase;
import java.sql.Connection;
import java.sql.SQLException;

/** One run: a leader is frozen in the middle of its work, another one takes over, the first one wakes up and writes. */
final class Scene {
    static final long EARLY_INVOICES = 600;
    static final long LATE_INVOICE = 300;
    static final long ALL_INVOICES = EARLY_INVOICES + LATE_INVOICE;

    private final ConsulServer consul;
    private final PostgresDatabase database;
    private final long began;
    private final Narration narration;

    Scene(ConsulServer consul, PostgresDatabase database, long began) {
        this.consul = consul;
        this.database = database;
        this.began = began;
        this.narration = new Narration("demo", began);
    }

    /** Plays it on a batch of its own, and reads from the database what came of it. */
    Outcome play(String mode, long batch, String slowName, String fastName) throws SQLException, InterruptedException {
        try (Connection connection = database.dataSource().getConnection()) {
            Batch.open(connection, batch);
            Batch.addInvoice(connection, batch, EARLY_INVOICES);
            try (Actor slow = actor(mode, "slow", slowName, batch)) {
                slow.awaitLine(Leader.READS);
                slow.freeze();
                Batch.addInvoice(connection, batch, LATE_INVOICE);
                narration.say("freezes " + slowName + " (SIGSTOP); a late invoice of " + LATE_INVOICE + " arrives");
                try (Actor fast = actor(mode, "fast", fastName, batch)) {
                    fast.awaitLine(Leader.CLOSED);
                    narration.say("resumes " + slowName + " (SIGCONT)");
                    slow.resume();
                    boolean paid = isWritten(slow.awaitLine(Leader.PAYS));
                    boolean overwrote = isWritten(slow.awaitLine(Leader.OVERWRITES));
                    slow.awaitLine(Leader.ASKS);
                    return new Outcome(
                            Batch.total(connection, batch), Batch.paidOut(connection, batch), paid, overwrote);
                }
            }
        }
    }

    private static boolean isWritten(String line) {
        return line.contains(Leader.WRITTEN);
    }

    private Actor actor(String mode, String pace, String name, long batch) {
        return new Actor(
                mode,
                pace,
                name,
                Long.toString(began),
                consul.url(),
                database.jdbcUrl(),
                database.user(),
                database.password(),
                Long.toString(batch));
    }

    /**
     * What the database holds in the end.
     *
     * @param stalePayOut the frozen leader was told that its transaction was committed
     * @param staleTotal the frozen leader was told that its update was done
     */
    record Outcome(long total, long paidOut, boolean stalePayOut, boolean staleTotal) {
        boolean isRight() {
            return total == ALL_INVOICES && paidOut == ALL_INVOICES && !stalePayOut && !staleTotal;
        }

        boolean isCorruptedInEveryWay() {
            return total == EARLY_INVOICES && paidOut == ALL_INVOICES + EARLY_INVOICES && stalePayOut && staleTotal;
        }
    }
}
