package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Fences whole transactions by one row of the table {@value FenceSchema#FENCE_TABLE}: the leader raises it to its token at
 * the start of its term, and every transaction compares its own token with it as the last thing before COMMIT.
 *
 * <pre>{@code
 * ResourceFence fence = ResourceFence.on(dataSource, "invoices");
 * fence.raise(lease);                                                  // once per term, before any work
 * fence.useTransaction(lease, connection -> repository.closeAll(connection));
 * }</pre>
 *
 * <p><b>Guaranteed.</b> After {@link #raise} has returned, no transaction of this fence with a lower token commits,
 * whatever tables it wrote to, inserts and deletes included, at any isolation level. One transaction uses one token.
 *
 * <p><b>Not guaranteed.</b> A former leader may commit until the raise; that work is ordered before the new leader's.
 * Writes that do not go through {@link #inTransaction} are not seen. NOTIFY, sequences, dblink and foreign tables are
 * outside of the transaction's reach. A fail-over to a replica that lacks the raise forgets it: raise again in the new
 * term.
 *
 * <p>Works on PostgreSQL, with the table that {@link FenceSchema#fenceTable()} prints; it is looked up once, on the search
 * path. Immutable otherwise, and thread-safe. The {@link DataSource} must hand out a connection of its own for each call,
 * with no transaction open on it.
 */
public final class ResourceFence {
    /** How long {@link #raise} tries if {@link #raiseTimeout} is not called: 30 seconds. */
    public static final Duration DEFAULT_RAISE_TIMEOUT = Duration.ofSeconds(30);

    private final DataSource dataSource;
    private final String resource;
    private final Duration raiseTimeout;
    private final AtomicReference<@Nullable FenceTable> table = new AtomicReference<>();

    private ResourceFence(DataSource dataSource, String resource, Duration raiseTimeout) {
        this.dataSource = dataSource;
        this.resource = resource;
        this.raiseTimeout = raiseTimeout;
    }

    /**
     * {@return the fence of a resource} Does no I/O.
     *
     * @param dataSource where the resource lives
     * @param resource a name for what is protected; all processes that share it use the same name
     * @throws IllegalArgumentException if the name is blank
     */
    public static ResourceFence on(DataSource dataSource, String resource) {
        Objects.requireNonNull(dataSource, "dataSource");
        if (resource.isBlank()) {
            throw new IllegalArgumentException("A resource needs a name");
        }
        return new ResourceFence(dataSource, resource, DEFAULT_RAISE_TIMEOUT);
    }

    /**
     * {@return a fence whose {@link #raise} tries for another time}
     *
     * @param timeout the time; at least 100 milliseconds
     * @throws IllegalArgumentException if it is shorter
     */
    public ResourceFence raiseTimeout(Duration timeout) {
        if (timeout.toMillis() < 100) {
            throw new IllegalArgumentException("A raise needs at least 100 ms, not " + timeout.toMillis() + " ms");
        }
        return new ResourceFence(dataSource, resource, timeout);
    }

    /** {@return the name of the resource} */
    public String resource() {
        return resource;
    }

    /**
     * Raises the fence to the token of the lease, in a short transaction on its own connection. Do it once per term,
     * before any work. Raising it again to the same token is fine.
     *
     * <p>It waits for transactions that are between their seal and the end of their commit. A wait that takes too long, a
     * serialization failure or a lost connection make it try again, as long as the lease is held and the time is not up.
     * It is durable when this returns, also where {@code synchronous_commit} is off for other work.
     *
     * @param lease the lease of this term
     * @throws FencedOutException if the fence is at a higher token already: a newer leader was here
     * @throws io.ringfence.election.TokenRegressionException if it is higher, and Consul confirms that the lease is the
     *     current one
     * @throws io.ringfence.election.LeaseLostException if the lease is lost
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if the time is up, no connection could be made, or the fence belongs to another election
     * @throws InterruptedException if the thread is interrupted before or between tries; a try under way is finished
     * @throws SQLException if the database refuses for reasons of its own
     */
    public void raise(Lease lease) throws SQLException, InterruptedException {
        new Raise(this, lease, raiseTimeout).run();
    }

    /**
     * Runs work in a transaction of its own, seals it and commits it. If the work throws, the transaction is rolled back
     * and what it threw arrives unchanged.
     *
     * <p>The lease is asked once, before the work. The connection is for this work only, and only while it runs: it
     * refuses {@code commit}, {@code rollback} (but to a savepoint), {@code close}, {@code abort} and changes of
     * auto-commit, isolation and read-only, and SQL text that begins or ends a transaction. Other threads may use it while
     * the work runs; calls of theirs that are under way when the work returns are waited for. Code that
     * {@linkplain Connection#unwrap unwraps} the driver's connection and commits there escapes the fence.
     *
     * <p>The transaction is rolled back, and the refusal thrown, if a {@link RowFence} on this connection refused a write,
     * even if the work swallowed that, and even after a rollback to a savepoint; {@link NoMatchingRowException} is the
     * exception to it. A read-only connection cannot be sealed: an {@link IllegalStateException} says so before the work.
     * Nested calls are separate transactions.
     *
     * <p>Isolation is what the {@link DataSource} gives. Serialization failures arrive as the {@link SQLException} they
     * are; nothing is retried.
     *
     * @param <R> what the work returns
     * @param <X> what the work throws
     * @param source the lease, or a bare token
     * @param work what to do
     * @return what the work returned
     * @throws X if the work threw it; rolled back
     * @throws FencedOutException if the fence is not at our token: higher ({@code SUPERSEDED}), or lower or missing
     *     ({@code NOT_RAISED}); rolled back
     * @throws io.ringfence.election.TokenRegressionException if it is higher, and Consul confirms that the lease is the
     *     current one; rolled back
     * @throws io.ringfence.election.LeaseLostException if the lease is lost before the work starts
     * @throws CommitOutcomeUnknownException if the connection was lost during COMMIT
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if no connection could be made, or the fence belongs to another election
     * @throws SQLException if the database refuses for reasons of its own, at the latest on COMMIT; rolled back
     */
    public <R extends @Nullable Object, X extends Exception> R inTransaction(FencingTokenSource source, Work<R, X> work)
            throws X, SQLException {
        FencingToken token = source.requireToken();
        Connection connection = connect();
        try {
            SealedTransaction transaction =
                    new SealedTransaction(resource, table(connection), source, token, connection);
            return transaction.run(work);
        } finally {
            Connections.close(connection);
        }
    }

    /**
     * Does what {@link #inTransaction} does, for work that returns nothing.
     *
     * @param <X> what the work throws
     * @param source the lease, or a bare token
     * @param action what to do
     * @throws X if the work threw it; rolled back
     * @throws FencedOutException as {@link #inTransaction} does
     * @throws SQLException as {@link #inTransaction} does
     */
    public <X extends Exception> void useTransaction(FencingTokenSource source, Action<X> action)
            throws X, SQLException {
        this.<Boolean, X>inTransaction(source, connection -> {
            action.run(connection);
            return true;
        });
    }

    Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new FencingException(
                    "The fence of resource '" + resource + "' got no connection from its DataSource ("
                            + dataSource.getClass().getName() + "): " + e.getMessage()
                            + ". Nothing was written. Check that the server runs, and the DataSource's URL, user and"
                            + " password",
                    e);
        }
    }

    FenceTable table(Connection connection) throws SQLException {
        FenceTable known = table.get();
        if (known == null) {
            try {
                known = FenceTable.locate(connection);
            } finally {
                if (!connection.getAutoCommit()) {
                    // the look-up must not be the first statement of what follows
                    connection.rollback();
                }
            }
            table.set(known);
        }
        return known;
    }

    /**
     * What is done in a transaction, with a result.
     *
     * @param <R> what it returns
     * @param <X> what it throws besides {@link SQLException}
     */
    @FunctionalInterface
    public interface Work<R extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @param connection the connection of the transaction, valid until this returns
         * @return anything
         * @throws X to roll back
         * @throws SQLException to roll back
         */
        R run(Connection connection) throws X, SQLException;
    }

    /**
     * What is done in a transaction, without a result.
     *
     * @param <X> what it throws besides {@link SQLException}
     */
    @FunctionalInterface
    public interface Action<X extends Exception> {
        /**
         * Does the work.
         *
         * @param connection the connection of the transaction, valid until this returns
         * @throws X to roll back
         * @throws SQLException to roll back
         */
        void run(Connection connection) throws X, SQLException;
    }
}
