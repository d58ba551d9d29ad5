package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.fencing.FenceTable.FenceRow;
import io.ringfence.fencing.internal.Refusals;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One raise of a fence: short tries, each a transaction of its own, until one is committed or the time is up. */
final class Raise {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceFence.class);
    private static final long MAX_TRY_MILLIS = 5_000;
    private static final long PAUSE_MILLIS = 20;
    /** Cancelled by statement_timeout, lock not available, serialization failure, deadlock. */
    private static final Set<String> RETRYABLE = Set.of("57014", "55P03", "40001", "40P01");

    private final ResourceFence fence;
    private final Lease lease;
    private final FencingToken token;
    private final long deadline;

    Raise(ResourceFence fence, Lease lease, Duration timeout) {
        this.fence = fence;
        this.lease = lease;
        this.token = lease.requireToken();
        this.deadline = System.nanoTime() + timeout.toNanos();
    }

    void run() throws SQLException, InterruptedException {
        @Nullable SQLException last = null;
        for (long left = remainingMillis(); last == null || left > 0; left = remainingMillis()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("Interrupted while raising the fence of " + fence.resource());
            }
            lease.requireToken();
            try {
                attempt(Math.max(1, Math.min(left, MAX_TRY_MILLIS)));
                LOG.atInfo()
                        .addKeyValue("resource", fence.resource())
                        .addKeyValue("election", lease.election())
                        .addKeyValue("token", token)
                        .log("Fence raised");
                return;
            } catch (SQLException e) {
                if (!RETRYABLE.contains(String.valueOf(e.getSQLState())) && !Connections.isLost(e)) {
                    throw e;
                }
                last = e;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        throw new FencingException(
                "The fence of resource '" + fence.resource() + "' could not be raised to token " + token
                        + " in time: " + last.getMessage() + ". A transaction that is sealed and not ended holds it:"
                        + " look for it in pg_stat_activity, end its backend, and set"
                        + " idle_in_transaction_session_timeout. No work may start before the raise",
                last);
    }

    private long remainingMillis() {
        return TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    }

    private void attempt(long millis) throws SQLException {
        Connection connection = fence.connect();
        try {
            FenceTable table = fence.table(connection);
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            boolean usable = true;
            try {
                raise(connection, table, millis);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                usable = Connections.rollback(connection, e);
                if (e instanceof FencedOutException refused) {
                    RuntimeException conclusion = Refusals.confirmed(lease, refused);
                    Refusals.log(LOG, conclusion);
                    throw conclusion;
                }
                throw e;
            } finally {
                if (usable) {
                    connection.setAutoCommit(autoCommit);
                }
            }
        } finally {
            Connections.close(connection);
        }
    }

    private void raise(Connection connection, FenceTable table, long millis) throws SQLException {
        try (Statement settings = connection.createStatement()) {
            settings.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = " + millis
                    + "; SELECT pg_catalog.set_config('synchronous_commit', 'on', true)"
                    + " WHERE pg_catalog.current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')");
        }
        String resource = fence.resource();
        if (table.raise(connection, resource, new FenceRow(lease.election(), token.value(), lease.holder()))) {
            return;
        }
        FenceRow row = table.read(connection, resource, false)
                .orElseThrow(() -> new FencingException(
                        "The fence row of resource '" + resource + "' vanished while it was raised: something removes"
                                + " rows of " + FenceSchema.FENCE_TABLE + ", which makes the fence worthless",
                        null));
        throw row.election().equals(lease.election())
                ? SealedTransaction.superseded("The fence was not raised to token " + token, resource, token, row)
                : SealedTransaction.otherElection(resource, row, lease);
    }
}
