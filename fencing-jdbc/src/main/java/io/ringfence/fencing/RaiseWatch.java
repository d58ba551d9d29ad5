package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks who blocks a raise, shortly before its try times out: the server knows that only during the wait, and tells it
 * only to another session.
 */
final class RaiseWatch implements Runnable {
    private static final long GRACE_MILLIS = 500;

    private static final String ASK = """
            SELECT b.pid, a.application_name, a.usename, a.state, a.query
              FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids(?)) AS b (pid)
              LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid
             ORDER BY b.pid""";

    private final ResourceFence fence;
    private final int pid;
    private final Duration delay;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean asking;
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    RaiseWatch(ResourceFence fence, int pid, Duration delay) {
        this.fence = fence;
        this.pid = pid;
        this.delay = delay;
    }

    @Override
    public void run() {
        try {
            if (!ended.await(delay.toMillis(), TimeUnit.MILLISECONDS)) {
                asking = true;
                answer.complete(ask());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (SQLException | RuntimeException e) {
            answer.complete("Who blocks it is not known, because the question failed: " + e.getMessage());
        }
    }

    /** Ends the watch, if it has not asked yet. */
    void end() {
        ended.countDown();
    }

    /** Returns who blocks the raise, or why that is not known, as a sentence; empty if it was too early to ask. */
    Optional<String> answer() {
        if (!asking) {
            return Optional.empty();
        }
        try {
            return Optional.of(answer.get(GRACE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return Optional.of(
                    "Who blocks it is not known, because a second connection to ask on did not come in time");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private String ask() throws SQLException {
        List<String> blockers = new ArrayList<>();
        Connection connection = fence.connect();
        try (PreparedStatement statement = connection.prepareStatement(ASK)) {
            statement.setInt(1, pid);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    blockers.add(blocker(row));
                }
            }
        } finally {
            Connections.close(connection);
        }
        return blockers.isEmpty()
                ? "Nobody blocked it at the time it was looked at"
                : "It is blocked by " + String.join(", and by ", blockers);
    }

    private static String blocker(ResultSet row) throws SQLException {
        String who = "pid " + row.getInt(1);
        if (row.getString(3) == null) {
            return who + " (a prepared transaction, or gone)";
        }
        String state = row.getString(4);
        return who + " (application '" + row.getString(2) + "', role '" + row.getString(3) + "', "
                + (state == null ? "of which this role may not see more" : state + ", last query: " + row.getString(5))
                + ")";
    }
}
