package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.fencing.internal.Refusals;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
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
    /** How long before the end of a try it is asked who blocks it, at most. */
    private static final long QUESTION_MILLIS = 1_000;
    /** Cancelled by statement_timeout, lock not available, serialization failure, deadlock. */
    private static final Set<String> RETRYABLE = Set.of("57014", "55P03", "40001", "40P01");

    private final ResourceFence fence;
    private final String resource;
    private final Lease lease;
    private final FencingToken token;
    private final long deadline;
    private String blockers = "Who blocks it is not known, because no try waited long enough to ask";

    Raise(ResourceFence fence, String resource, Lease lease, long deadline) {
        this.fence = fence;
        this.resource = resource;
        this.lease = lease;
        this.token = lease.requireToken();
        this.deadline = deadline;
    }

    void run() throws SQLException, InterruptedException {
        @Nullable SQLException last = null;
        for (long left = remainingMillis(); last == null || left > 0; left = remainingMillis()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("Interrupted while raising the fence of " + resource);
            }
            lease.requireToken();
            try {
                attempt(Math.max(1, Math.min(left, MAX_TRY_MILLIS)));
                LOG.atInfo()
                        .addKeyValue("resource", resource)
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
                "The fence of resource '" + resource + "' could not be raised to token " + token
                        + " in time: " + last.getMessage() + ". " + blockers + ". A transaction that is sealed and"
                        + " not ended holds a raise up: look into pg_stat_activity, end its backend with"
                        + " pg_terminate_backend, and set idle_in_transaction_session_timeout. No work may start before"
                        + " the raise",
                last);
    }

    private long remainingMillis() {
        return TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    }

    private void attempt(long millis) throws SQLException {
        Raising raising = fence.location().raising();
        Connection connection = fence.connect();
        try {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            boolean usable = true;
            try {
                raise(connection, raising, millis);
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

    private void raise(Connection connection, Raising raising, long millis) throws SQLException {
        RaiseWatch watch;
        try (Statement settings = connection.createStatement()) {
            settings.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = " + millis
                    + "; SELECT pg_catalog.set_config('synchronous_commit', 'on', true)"
                    + " WHERE pg_catalog.current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')");
            watch = watch(settings, millis);
        }
        try {
            Optional<RuntimeException> refused = raising.raise(connection, Claim.of(resource, lease, token));
            if (refused.isPresent()) {
                throw refused.get();
            }
        } catch (SQLException e) {
            watch.answer().ifPresent(answer -> blockers = answer);
            throw e;
        } finally {
            watch.end();
        }
    }

    private RaiseWatch watch(Statement statement, long millis) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT pg_catalog.pg_backend_pid()")) {
            row.next();
            Duration delay = Duration.ofMillis(millis - Math.min(millis / 2, QUESTION_MILLIS));
            RaiseWatch watch = new RaiseWatch(fence, row.getInt(1), delay);
            fence.threads().newThread(watch).start();
            return watch;
        }
    }
}
