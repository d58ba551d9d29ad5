package io.ringfence.fencing;

import io.ringfence.election.Lease;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.logging.Logger;
import javax.sql.DataSource;
import javax.sql.XAConnection;
import javax.sql.XADataSource;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DataSource} whose every transaction is fenced, for code that knows nothing of leases: Spring, Hibernate,
 * MyBatis, jOOQ, JDBI or plain JDBC.
 *
 * <pre>{@code
 * AtomicReference<Lease> current = new AtomicReference<>();
 * DataSource fenced = FencedDataSource.of(pool, fence, current::get);
 * LeaderLoop loop = election.lead(fence.raiseBefore(lease -> {
 *     current.set(lease);
 *     closeInvoices(fenced);
 * }));
 * }</pre>
 *
 * <p><b>Transactions.</b> The lease is asked for once, before the first statement of a transaction, and its token is
 * compared with the fence inside {@code commit()}, as {@link ResourceFence#inTransaction} does it. So it is in
 * {@code setAutoCommit(true)}, which commits by the rules of JDBC; there a transaction that has written nothing until then
 * is committed READ ONLY instead, because frameworks end so what only read: a cursor WITH HOLD whose query writes fails, and
 * a NOTIFY is sent without being compared. If the commit is refused, the transaction is rolled back, auto-commit stays off, and the connection can be used for another one. In auto-commit mode each statement is a
 * transaction of its own, a batch too, and its results are read before it is committed: a fetch size has no effect, as it
 * has none with PostgreSQL's driver in that mode. {@code close()} rolls back what was not committed.
 *
 * <p><b>Without a lease</b>, or with one that is lost, transactions are made READ ONLY by the server, and writes fail with
 * {@link NoLeaseException}. What PostgreSQL allows there is not refused, for example writes to temporary tables, NOTIFY
 * and advisory locks. The isolation level can then be set by {@link Connection#setTransactionIsolation} only, not by SQL.
 *
 * <p><b>Guaranteed.</b> After {@link ResourceFence#raise} has returned, no transaction of this DataSource with a lower
 * token commits, whatever it wrote to. SQL text that begins or ends a transaction is refused, and all objects that lead
 * to a connection lead to the fenced one.
 *
 * <p><b>Not guaranteed.</b> The driver's own connection ({@code unwrap} of a connection, statement or result, within a transaction only) can commit
 * past the fence; what is done with it between two transactions is noticed at the next one, which is rolled back. XA is
 * refused. Statements that PostgreSQL does not run in a transaction, like VACUUM, fail.
 *
 * <p>Put it directly around the pool, below everything else, such as Spring's proxies. Schema migrations, schedulers and
 * session stores use the pool itself. Refusals arrive as the unchecked exceptions of {@link ResourceFence#inTransaction},
 * from {@code commit()}, or from the statement in auto-commit mode.
 *
 * <p>Works on PostgreSQL. Immutable and thread-safe; its connections may be used by several threads, one call at a time.
 */
public final class FencedDataSource implements DataSource {
    private final DataSource pool;
    private final ResourceFence fence;
    private final Supplier<? extends @Nullable Lease> leases;
    private final @Nullable LossWatch losses;

    private FencedDataSource(
            DataSource pool,
            ResourceFence fence,
            Supplier<? extends @Nullable Lease> leases,
            @Nullable LossWatch losses) {
        this.pool = pool;
        this.fence = fence;
        this.leases = leases;
        this.losses = losses;
    }

    /**
     * {@return a DataSource that fences all transactions on the connections of a pool} Does no I/O.
     *
     * @param pool hands out the connections; closing it remains the caller's task
     * @param fence is compared with, on the connections of the pool; the DataSource that it was made with is not used
     * @param leases gives the lease of the present term, or null; called at the beginning of each transaction, and must
     *     not block
     * @throws IllegalArgumentException if the pool hands out XA connections, or fenced ones already
     */
    public static FencedDataSource of(
            DataSource pool, ResourceFence fence, Supplier<? extends @Nullable Lease> leases) {
        Objects.requireNonNull(pool, "pool");
        if (pool instanceof FencedDataSource) {
            throw new IllegalArgumentException("The connections of this DataSource are fenced already: fence several"
                    + " resources by ResourceFence.on(dataSource, \"first\", \"second\")");
        }
        if (pool instanceof XADataSource) {
            throw new IllegalArgumentException(
                    "XA transactions cannot be fenced: they are committed by their coordinator, long after any check."
                            + " Use a DataSource of local transactions, not "
                            + pool.getClass().getName());
        }
        return new FencedDataSource(pool, fence.over(pool), Objects.requireNonNull(leases, "leases"), null);
    }

    /**
     * {@return a DataSource that also cancels the statement under way when the lease of its transaction is lost} The
     * transaction can only be rolled back then, and its statements fail with
     * {@link io.ringfence.election.LeaseLostException}. Without this a statement runs to its end, and the fence decides at
     * the commit.
     *
     * <p>It saves the database work that is lost anyway; the fence does not need it. The cancel is sent by a thread of
     * {@link ResourceFence#threadFactory}, and has been sent before the connection goes back to the pool.
     */
    public FencedDataSource cancelOnLoss() {
        return new FencedDataSource(pool, fence, leases, new LossWatch(fence.threads()));
    }

    /**
     * {@return a fenced connection of the pool}
     *
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if the first connection of all, which looks for the fence, could not be made
     * @throws SQLException if the pool refuses
     */
    @Override
    public Connection getConnection() throws SQLException {
        Seal seal = fence.location().seal();
        return fenced(seal, pool.getConnection());
    }

    /**
     * {@return a fenced connection of the pool, for a certain user}
     *
     * @throws FenceSchemaException if the fence table is missing
     * @throws FencingException if the first connection of all, which looks for the fence, could not be made
     * @throws SQLException if the pool refuses
     */
    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        Seal seal = fence.location().seal();
        return fenced(seal, pool.getConnection(username, password));
    }

    private Connection fenced(Seal seal, Connection raw) throws SQLException {
        try {
            return FencedConnection.of(raw, seal, fence, leases, losses);
        } catch (SQLException | RuntimeException e) {
            Connections.close(raw);
            throw e;
        }
    }

    /**
     * {@return this, the pool, or what the pool unwraps to}
     *
     * @throws SQLException if there is no such thing, or if it would hand out XA connections
     */
    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        if (type == XADataSource.class || type == XAConnection.class) {
            throw new SQLFeatureNotSupportedException("XA transactions cannot be fenced");
        }
        return type.isInstance(pool) ? type.cast(pool) : pool.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this)
                || (type != XADataSource.class && (type.isInstance(pool) || pool.isWrapperFor(type)));
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return pool.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        pool.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        pool.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return pool.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return pool.getParentLogger();
    }

    @Override
    public String toString() {
        return "FencedDataSource of " + fence.resources() + " over " + pool;
    }
}
