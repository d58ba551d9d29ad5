package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.StatementCache;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.HandleConsumer;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.argument.Arguments;
import org.jdbi.v3.core.extension.Extensions;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.jspecify.annotations.Nullable;

/**
 * Fences what is written through JDBI: single rows by their token column as {@link io.ringfence.fencing.RowFence} does, and
 * whole transactions by a {@link ResourceFence}.
 *
 * <pre>{@code
 * JdbiFence fence = JdbiFence.onColumn("fencing_token").key("id");
 * Jdbi jdbi = Jdbi.create(dataSource).installPlugin(new SqlObjectPlugin()).installPlugin(fence);
 *
 * interface Invoices {
 *     @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id")
 *     void close(@Fenced Lease lease, long id, String status);
 * }
 * }</pre>
 *
 * <p>It is a plugin: install it once on each {@link Jdbi}, before handles are opened. Statements are then fenced by
 * {@link Fenced} in SQL objects, and by {@link #on(Handle, FencingTokenSource)} in plain code. All others run as before.
 *
 * <p><b>Guaranteed and not guaranteed</b> is what stands at {@link io.ringfence.fencing.RowFence}. The statement is looked
 * at after JDBI's template engine and parser, whichever these are, as plain JDBC text: fenced as they stand are plain UPDATE
 * and DELETE; others need markers, which are written as <code>{fence.where}</code> as in JDBC, or, in the syntax of the
 * template engine, as attributes named {@code fenceSet}, {@code fenceWhere}, {@code fenceColumn} and {@code fenceToken}:
 * {@code <fenceWhere>}. What cannot be fenced is refused with {@link io.ringfence.fencing.NotFenceableException} and is never
 * run unfenced.
 *
 * <p><b>Exceptions</b> are those of {@link io.ringfence.fencing.RowFence#update}, not wrapped, with the method and the
 * statement in their message. {@link io.ringfence.election.LeaseLostException} comes before any SQL is sent, and names them
 * in a suppressed exception. What the database refuses for reasons of its own arrives as the exception that JDBI makes of
 * it, serialization failures included.
 *
 * <p><b>Transactions.</b> A transaction of JDBI in which a fenced write was refused is rolled back instead of committed, and
 * the refusal is thrown, even if the caller has swallowed it, and whichever {@code TransactionHandler} runs the transaction;
 * {@link io.ringfence.fencing.NoMatchingRowException} is the exception to it. Not seen are commits by a container, by SQL
 * text or by the driver's own connection. All fenced writes of one transaction need one token. A batch runs in a transaction
 * of its own if none is open.
 *
 * <p>Works on the databases that {@code RowFence} works on; {@link #inTransaction} on PostgreSQL. One {@code JdbiFence}
 * serves one database. Immutable but for what it has learned of it, and thread-safe.
 */
public final class JdbiFence implements JdbiPlugin {
    private static final String SQL_OBJECT = "org.jdbi.v3.sqlobject.SqlObject";

    private final String column;
    private final List<String> keys;
    private final ExpectedRows expected;
    private final FencedWriter writer;
    private final StatementCache statements;
    private final Map<List<String>, JdbiFence> others;

    private JdbiFence(
            String column,
            List<String> keys,
            ExpectedRows expected,
            FencedWriter writer,
            StatementCache statements,
            Map<List<String>, JdbiFence> others) {
        this.column = column;
        this.keys = keys;
        this.expected = expected;
        this.writer = writer;
        this.statements = statements;
        this.others = others;
    }

    /**
     * {@return a fence on the tables that have this token column}
     *
     * @param column the column, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public static JdbiFence onColumn(String column) {
        return new JdbiFence(
                column,
                List.of(),
                ExpectedRows.one(),
                new FencedWriter(column),
                new StatementCache(column, List.of()),
                new ConcurrentHashMap<>());
    }

    /**
     * {@return a fence that finds the row by its key when a statement wrote nothing} See
     * {@link io.ringfence.fencing.RowFence#key}.
     *
     * @param column the key column, as SQL writes it
     * @param more the other columns of the key
     * @throws IllegalArgumentException if one of them is not a name
     */
    public JdbiFence key(String column, String... more) {
        return keys(Stream.concat(Stream.of(column), Stream.of(more)).toList());
    }

    private JdbiFence keys(List<String> names) {
        return new JdbiFence(
                column, names, expected, writer, new StatementCache(column, names), new ConcurrentHashMap<>());
    }

    /**
     * {@return the same fence with another expectation of how many rows a statement writes} It shares what this one has
     * learned, so it can be asked for at each call.
     *
     * @param rows what to expect; {@link ExpectedRows#one()} is the default
     */
    public JdbiFence expecting(ExpectedRows rows) {
        return new JdbiFence(column, keys, Objects.requireNonNull(rows, "rows"), writer, statements, others);
    }

    /**
     * {@return a handle whose statements are fenced}
     *
     * @param handle a handle of a {@link Jdbi} that has this plugin, or another {@code JdbiFence}
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @throws IllegalStateException if the handle's {@link Jdbi} has no such plugin
     */
    public FencedHandle on(Handle handle, FencingTokenSource source) {
        HandleConnection.require(handle, "JdbiFence.on");
        return new FencedHandle(handle, call(source));
    }

    /**
     * Runs work in a transaction of a handle that is sealed by a fence, as {@link ResourceFence#inTransaction} does: after
     * the fence was raised by a newer leader, nothing of it is committed, whatever it wrote. JDBI's own methods run the
     * transaction, so that {@code afterCommit} and the {@code TransactionHandler} of the user work as ever; each commit is
     * sealed, also one in the midst of the work.
     *
     * <p>While it runs, the handle refuses SQL text that begins or ends a transaction. Without a lease that is held when
     * the transaction begins, it can only read.
     *
     * @param <R> what the work returns
     * @param <X> what the work throws
     * @param handle a handle with no transaction open
     * @param resource the fence, made with a {@code DataSource} of the same database and role
     * @param lease the lease of this term
     * @param work what to do; {@code @Transaction} and {@code inTransaction} in it join this transaction
     * @return what the work returned
     * @throws X if the work threw it; rolled back
     * @throws io.ringfence.fencing.FencedOutException as {@link ResourceFence#inTransaction} does; rolled back
     * @throws io.ringfence.election.LeaseLostException if the lease is lost before the work starts
     * @throws IllegalStateException if the handle is in a transaction, or its {@link Jdbi} lacks this plugin
     */
    public <R extends @Nullable Object, X extends Exception> R inTransaction(
            Handle handle, ResourceFence resource, Lease lease, HandleCallback<R, X> work) throws X {
        HandleConnection connection = HandleConnection.require(handle, "JdbiFence.inTransaction");
        if (handle.isInTransaction()) {
            throw new IllegalStateException(
                    "The handle is in a transaction that was not sealed from its beginning: call"
                            + " JdbiFence.inTransaction first, and @Transaction or handle.inTransaction inside of it");
        }
        lease.requireToken();
        return connection.<R, X>sealed(resource, lease, () -> handle.inTransaction(work));
    }

    /**
     * Does what {@link #inTransaction(Handle, ResourceFence, Lease, HandleCallback)} does, on a handle that is opened for
     * it.
     *
     * @param <R> what the work returns
     * @param <X> what the work throws
     * @param jdbi has this plugin
     * @param resource the fence
     * @param lease the lease of this term
     * @param work what to do
     * @return what the work returned
     * @throws X if the work threw it; rolled back
     */
    public <R extends @Nullable Object, X extends Exception> R inTransaction(
            Jdbi jdbi, ResourceFence resource, Lease lease, HandleCallback<R, X> work) throws X {
        return jdbi.<R, X>withHandle(handle -> inTransaction(handle, resource, lease, work));
    }

    /**
     * Does what {@link #inTransaction(Handle, ResourceFence, Lease, HandleCallback)} does, for work that returns nothing.
     *
     * @param <X> what the work throws
     * @param handle a handle with no transaction open
     * @param resource the fence
     * @param lease the lease of this term
     * @param work what to do
     * @throws X if the work threw it; rolled back
     */
    public <X extends Exception> void useTransaction(
            Handle handle, ResourceFence resource, Lease lease, HandleConsumer<X> work) throws X {
        this.<Boolean, X>inTransaction(handle, resource, lease, inside -> {
            work.useHandle(inside);
            return true;
        });
    }

    /**
     * Does what {@link #inTransaction(Jdbi, ResourceFence, Lease, HandleCallback)} does, for work that returns nothing.
     *
     * @param <X> what the work throws
     * @param jdbi has this plugin
     * @param resource the fence
     * @param lease the lease of this term
     * @param work what to do
     * @throws X if the work threw it; rolled back
     */
    public <X extends Exception> void useTransaction(
            Jdbi jdbi, ResourceFence resource, Lease lease, HandleConsumer<X> work) throws X {
        jdbi.<X>useHandle(handle -> useTransaction(handle, resource, lease, work));
    }

    FencedCall call(FencingTokenSource source) {
        return new FencedCall(source, writer, statements, expected);
    }

    /** Returns the fence that an annotation describes; what it leaves out is as here. */
    JdbiFence like(Fenced options) {
        JdbiFence base = this;
        if (!options.column().isEmpty() || options.key().length > 0) {
            List<String> names = options.key().length == 0 ? keys : List.of(options.key());
            List<String> asked =
                    Stream.concat(Stream.of(options.column()), names.stream()).toList();
            base = others.computeIfAbsent(
                    asked, wanted -> (options.column().isEmpty() ? this : onColumn(options.column())).keys(names));
        }
        return base.expecting(options.rows().expected(options.exactly(), expected));
    }

    @Override
    public void customizeJdbi(Jdbi jdbi) {
        jdbi.getConfig(FencedCall.Mark.class).install();
        jdbi.getConfig(Arguments.class).register(new TokenArguments());
        if (isPresent(SQL_OBJECT)) {
            jdbi.getConfig(Extensions.class).registerHandlerCustomizer(new FencedMethods());
        }
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, JdbiFence.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    @Override
    public Connection customizeConnection(Connection connection) {
        return HandleConnection.of(this, connection);
    }

    @Override
    public Handle customizeHandle(Handle handle) {
        return handle.setStatementBuilder(new FencedStatementBuilder(handle.getStatementBuilder()));
    }
}
