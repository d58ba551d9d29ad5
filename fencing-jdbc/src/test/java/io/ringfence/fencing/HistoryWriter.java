package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A leader at work: one transaction after the other, each of which leaves a row with its token in the history. It is
 * slow at random places, between statements and with COMMIT on its way.
 */
final class HistoryWriter {
    static final String COMMITTED = "committed ";
    static final String REFUSED = "refused ";

    private final int id;
    private final LongSupplier tokens;
    private final IntConsumer stall;
    private final Random random;
    private final @Nullable ResourceFence fence;
    private final DataSource source;

    /**
     * Creates one.
     *
     * @param mode how to seal; null compares the tokens before the work and takes no lock
     * @param tokens asked before each transaction
     * @param stall holds up what is sent next, for some milliseconds
     */
    HistoryWriter(
            int id,
            Connection connection,
            @Nullable SealMode mode,
            LongSupplier tokens,
            IntConsumer stall,
            Random random) {
        this.id = id;
        this.tokens = tokens;
        this.stall = stall;
        this.random = random;
        DataSource kept = new KeptOpen(connection, new AtomicInteger()).dataSource();
        if (mode == null) {
            this.source = Wrapped.before(kept, "commit", () -> maybeStall(4, 40));
            this.fence = null;
        } else {
            // the work prepares nothing: what is prepared, or sent past the proxies, is the seal
            String seal = mode == SealMode.WITH_COMMIT ? "unwrap" : "prepareStatement";
            DataSource late = Wrapped.before(kept, "commit", () -> maybeStall(16, 20));
            this.source = Wrapped.before(late, seal, () -> maybeStall(4, 40));
            this.fence = ResourceFence.on(source, "history").sealMode(mode);
        }
    }

    static String mode(@Nullable SealMode mode) {
        return mode == null ? "none" : mode.name();
    }

    private void maybeStall(int oneIn, int maxMillis) {
        if (random.nextInt(oneIn) == 0) {
            stall.accept(1 + random.nextInt(maxMillis));
        }
    }

    private void maybePause() {
        if (random.nextInt(4) == 0) {
            sleep(1 + random.nextInt(20));
        }
    }

    static void sleep(int millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes until it is stopped, and tells the outcome of each transaction with its number. */
    void run(BooleanSupplier stopped, Consumer<String> outcomes) throws SQLException {
        for (int number = 1; !stopped.getAsBoolean(); number++) {
            outcomes.accept((commits(number, tokens.getAsLong()) ? COMMITTED : REFUSED) + number);
        }
    }

    private boolean commits(int number, long token) throws SQLException {
        if (fence == null) {
            return commitsUnsealed(number, token);
        }
        try {
            fence.useTransaction(FakeLease.of(token), connection -> work(connection, number, token));
            return true;
        } catch (FencedOutException e) {
            return false;
        }
    }

    private boolean commitsUnsealed(int number, long token) throws SQLException {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            String fenced =
                    Sql.rows(connection, "SELECT token FROM ringfence_fence").get(0);
            if (Long.parseLong(fenced) != token) {
                connection.rollback();
                return false;
            }
            work(connection, number, token);
            connection.commit();
            return true;
        }
    }

    private void work(Connection connection, int number, long token) throws SQLException {
        Sql.execute(connection, "INSERT INTO history VALUES (" + id + ", " + number + ", " + token + ")");
        maybePause();
        Sql.execute(connection, "UPDATE counter SET v = v + 1, token = " + token + " WHERE id = " + id);
        maybePause();
    }
}
