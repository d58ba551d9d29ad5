package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.fencing.internal.SqlName;
import io.ringfence.fencing.internal.TokenSetting;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
 * Writes that do not go through {@link #inTransaction} are not seen, unless by {@linkplain FenceSchema#commitGuard guards}.
 * NOTIFY, sequences, dblink and foreign tables are outside of the transaction's reach. A fail-over to a replica that lacks
 * the raise forgets it: raise again in the new term.
 *
 * <p>Works on PostgreSQL, with the table that {@link FenceSchema#fenceTable()} prints, and better with the functions of
 * {@link FenceSchema#fenceFunctions()}. They are looked up once, before the first use, on a connection of their own:
 * functions that are installed later are noticed after a restart, guards after one transaction that they refused. Immutable
 * otherwise, and thread-safe. The {@link DataSource} must hand out a connection of its own for each call, with no transaction open on it.
 */
public final class ResourceFence {
    /** How long {@link #raise} tries if {@link #raiseTimeout} is not called: 30 seconds. */
    public static final Duration DEFAULT_RAISE_TIMEOUT = Duration.ofSeconds(30);

    private final DataSource dataSource;
    private final List<String> resources;
    private final @Nullable String schema;
    private final Duration raiseTimeout;
    private final SealMode fastest;
    private final ThreadFactory threads;
    private final AtomicReference<@Nullable FenceLocation> location = new AtomicReference<>();

    private ResourceFence(
            DataSource dataSource,
            List<String> resources,
            @Nullable String schema,
            Duration raiseTimeout,
            SealMode fastest,
            ThreadFactory threads) {
        this.dataSource = dataSource;
        this.resources = resources;
        this.schema = schema;
        this.raiseTimeout = raiseTimeout;
        this.fastest = fastest;
        this.threads = threads;
    }

    /**
     * {@return the fence of a resource, or of several at once} Does no I/O.
     *
     * <p>Several are raised one after the other, in the order of their names, and each transaction is compared with all
     * of them.
     *
     * @param dataSource where the resource lives
     * @param resource a name for what is protected; all processes that share it use the same name
     * @param more names of other resources in the same database
     * @throws IllegalArgumentException if a name is blank, or there twice
     */
    public static ResourceFence on(DataSource dataSource, String resource, String... more) {
        Objects.requireNonNull(dataSource, "dataSource");
        SortedSet<String> names = new TreeSet<>();
        for (String name : Stream.concat(Stream.of(resource), Stream.of(more)).toList()) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("A resource needs a name, not '" + name + "'");
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException("Resource '" + name + "' is given twice");
            }
        }
        return new ResourceFence(
                dataSource,
                List.copyOf(names),
                null,
                DEFAULT_RAISE_TIMEOUT,
                SealMode.WITH_COMMIT,
                ResourceFence::daemon);
    }

    /**
     * {@return a fence whose table and functions are in a certain schema} Without it they are those of the first schema of
     * the search path that has the table.
     *
     * @param name the schema, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public ResourceFence inSchema(String name) {
        return new ResourceFence(dataSource, resources, SqlName.parse(name, 1).last(), raiseTimeout, fastest, threads);
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
        return new ResourceFence(dataSource, resources, schema, timeout, fastest, threads);
    }

    /**
     * {@return a fence that seals in this way, or in a later one of {@link SealMode} where this one is not to be had} By
     * default the first one that works is used.
     *
     * @param mode the way
     */
    public ResourceFence sealMode(SealMode mode) {
        return new ResourceFence(
                dataSource, resources, schema, raiseTimeout, Objects.requireNonNull(mode, "mode"), threads);
    }

    /**
     * {@return a fence that makes threads by this factory} By default they are daemon threads named
     * {@code ringfence-fence}. Each try of {@link #raise} starts one, which asks who blocks it and ends with it; so does
     * a {@link FencedDataSource} to cancel statements.
     *
     * @param factory makes the threads
     */
    public ResourceFence threadFactory(ThreadFactory factory) {
        return new ResourceFence(
                dataSource, resources, schema, raiseTimeout, fastest, Objects.requireNonNull(factory, "factory"));
    }

    /**
     * {@return how transactions are sealed} Looks at the database if this fence has not been used yet.
     *
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if no connection could be made
     * @throws SQLException if the database refuses for reasons of its own
     */
    public SealMode sealMode() throws SQLException {
        return location().seal().mode();
    }

    /** {@return the names of the resources, sorted} */
    public List<String> resources() {
        return resources;
    }

    /** The same fence for transactions on the connections of another DataSource, whose role may have other rights. */
    ResourceFence over(DataSource other) {
        return new ResourceFence(other, resources, schema, raiseTimeout, fastest, threads);
    }

    List<Claim> claims(FencingTokenSource source, FencingToken token) {
        return resources.stream().map(name -> Claim.of(name, source, token)).toList();
    }

    /**
     * Raises the fence to the token of the lease, in a short transaction on its own connection. Do it once per term,
     * before any work. Raising it again to the same token is fine.
     *
     * <p>It waits for transactions that are between their seal and the end of their commit. A wait that takes too long, a
     * serialization failure or a lost connection make it try again, as long as the lease is held and the time is not up.
     * Shortly before a try times out, a second connection of the {@link DataSource} asks who blocks it, for the message.
     * It is durable when this returns, also where {@code synchronous_commit} is off for other work.
     *
     * <p>Of several resources some may be raised already when this fails. That lets no former leader in; raise again.
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
        long deadline = System.nanoTime() + raiseTimeout.toNanos();
        for (String resource : resources) {
            new Raise(this, resource, lease, deadline).run();
        }
    }

    /**
     * {@return work for a {@link LeaderLoop} that raises this fence before it does any other work} If the raise fails, the
     * work is not done and the term ends.
     *
     * <pre>{@code
     * LeaderLoop loop = election.lead(fence.raiseBefore(lease -> closeInvoices(lease)));
     * }</pre>
     *
     * @param work what to do once the fence is raised
     */
    public LeaderLoop.Work raiseBefore(LeaderLoop.Work work) {
        Objects.requireNonNull(work, "work");
        return lease -> {
            raise(lease);
            work.lead(lease);
        };
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
     * exception to it. Nested calls are separate transactions.
     *
     * <p>A transaction that is read-only for the server and has written nothing is compared with the fence without a
     * lock. Where {@link #sealMode()} is {@link SealMode#TABLE} it must be read-only by the {@link DataSource}, not by
     * SQL text, or it fails with SQLSTATE 25006.
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
     * @throws CommitOutcomeUnknownException if the connection was lost during COMMIT, or during a seal that is sent with it
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if no connection could be made, or the fence belongs to another election
     * @throws SQLException if the database refuses for reasons of its own, at the latest on COMMIT; rolled back
     */
    public <R extends @Nullable Object, X extends Exception> R inTransaction(FencingTokenSource source, Work<R, X> work)
            throws X, SQLException {
        FencingToken token = source.requireToken();
        Seal seal = location().seal();
        Connection connection = connect();
        try {
            SealedCommit commit = new SealedCommit(seal, source, claims(source, token), connection);
            return new SealedTransaction(token, commit, connection).run(work);
        } catch (Throwable failure) {
            noticeGuard(failure);
            throw failure;
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

    /**
     * {@return a connection of the caller, fenced as those of a {@link FencedDataSource} are} For adapters of frameworks
     * that hand out connections of their own.
     *
     * <p>Closing it rolls back what was not committed, restores auto-commit, and closes the connection behind it.
     *
     * @param connection a connection with no transaction open, to the same database and of the same role as those of
     *     this fence's {@link DataSource}
     * @param leases gives the lease of the present term, or null; called at the beginning of each transaction, and must
     *     not block
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if no connection could be made to look for the fence
     * @throws SQLException if the database refuses
     */
    public Connection fenced(Connection connection, Supplier<? extends @Nullable Lease> leases) throws SQLException {
        return FencedConnection.of(connection, location().seal(), this, leases, null);
    }

    private String described() {
        return (resources.size() == 1 ? "resource '" : "resources '") + String.join("', '", resources) + "'";
    }

    ThreadFactory threads() {
        return threads;
    }

    private static Thread daemon(Runnable job) {
        Thread thread = new Thread(job, "ringfence-fence");
        thread.setDaemon(true);
        return thread;
    }

    Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new FencingException(
                    "The fence of " + described() + " got no connection from its DataSource ("
                            + dataSource.getClass().getName() + "): " + e.getMessage()
                            + ". Nothing was written. Check that the server runs, and the DataSource's URL, user and"
                            + " password",
                    e);
        }
    }

    /** Looks on a connection of its own: nothing may come before the first statement of a transaction. */
    FenceLocation location() throws SQLException {
        FenceLocation known = location.get();
        if (known == null) {
            Connection connection = connect();
            try {
                known = FenceLocation.find(connection, schema, fastest);
                if (!connection.getAutoCommit()) {
                    connection.rollback();
                }
            } finally {
                Connections.close(connection);
            }
            location.set(known);
        }
        return known;
    }

    /** Looks again before the next transaction if this one was refused by a guard that is newer than the last look. */
    void noticeGuard(Throwable failure) {
        if (TokenSetting.isMissing(failure)) {
            location.set(null);
        }
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
