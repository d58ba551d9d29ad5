package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.internal.FencedTransaction;
import io.ringfence.fencing.internal.TransactionControl;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a {@link FencedDataSource}. The connection behind it never commits by itself: what the user sees as
 * auto-commit is a transaction of ours around each statement.
 */
final class FencedConnection implements JdbcProxy.Calls, FencedTransaction {
    /**
     * Makes the transaction read-only for good: it is a query, and after one a transaction cannot be made to write. Tells
     * whether nothing was written before.
     */
    private static final String READ_ONLY = "SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL,"
            + " pg_catalog.set_config('transaction_read_only', 'on', true)";

    /** What drivers ask the server by statements of their own, which belong to no transaction of the user. */
    private static final Set<String> APART = Set.of(
            "isValid",
            "getTransactionIsolation",
            "getSchema",
            "setSchema",
            "getCatalog",
            "setCatalog",
            "getClientInfo",
            "setClientInfo");

    private static final Set<String> WRITES_ROW = Set.of("insertRow", "updateRow", "deleteRow", "refreshRow");
    private static final Set<String> FETCHES = Set.of("next", "previous", "first", "last", "absolute", "relative");

    /** SQLSTATE of a call that fits no transaction, or none but this one. */
    private static final String NO_TRANSACTION = "25P01";

    private final Connection raw;
    private final Seal seal;
    private final ResourceFence fence;
    private final Supplier<? extends @Nullable Lease> leases;
    private final @Nullable LossWatch losses;
    private final boolean autoCommitBefore;
    private final ReentrantLock lock = new ReentrantLock();
    private boolean autoCommit;
    private volatile boolean closed;
    private @Nullable LeasedTransaction transaction;

    private FencedConnection(
            Connection raw,
            Seal seal,
            ResourceFence fence,
            Supplier<? extends @Nullable Lease> leases,
            @Nullable LossWatch losses)
            throws SQLException {
        this.raw = raw;
        this.seal = seal;
        this.fence = fence;
        this.leases = leases;
        this.losses = losses;
        this.autoCommitBefore = raw.getAutoCommit();
        this.autoCommit = autoCommitBefore;
    }

    static Connection of(
            Connection raw,
            Seal seal,
            ResourceFence fence,
            Supplier<? extends @Nullable Lease> leases,
            @Nullable LossWatch losses)
            throws SQLException {
        FencedConnection connection = new FencedConnection(raw, seal, fence, leases, losses);
        raw.setAutoCommit(false);
        if (Connections.hasOpenTransaction(raw)) {
            raw.rollback(); // a pool without auto-commit may have asked whether the connection is alive
        }
        return JdbcProxy.of(connection, raw);
    }

    @Override
    public FencedTransaction transaction() {
        return this;
    }

    @Override
    public @Nullable Object call(JdbcCall call) throws Throwable {
        // these are for a call that is under way, and must not wait for it
        if (call.name().equals("cancel") || (call.name().equals("abort") && call.isOnConnection())) {
            return call.run(this);
        }
        if (call.name().equals("isClosed") && call.isOnConnection()) {
            return closed || raw.isClosed();
        }
        lock.lock();
        try {
            if (closed) {
                return call.afterTheEnd("The connection is closed");
            }
            String sql = call.sql();
            if (sql != null) {
                TransactionControl.refuse(sql);
            }
            return call.isOnConnection() ? onConnection(call) : onChild(call);
        } catch (SQLException failure) {
            fence.noticeGuard(failure);
            throw failure;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Object onConnection(JdbcCall call) throws Throwable {
        boolean toSavepoint = !call.arguments().isEmpty();
        return switch (call.name()) {
            case "getAutoCommit" -> autoCommit;
            case "setAutoCommit" -> {
                setAutoCommit(Boolean.TRUE.equals(call.arguments().get(0)));
                yield null;
            }
            case "commit" -> {
                requireManual("commit()");
                commit();
                yield null;
            }
            case "rollback" -> {
                requireManual("rollback()");
                yield toSavepoint ? call.run(this) : rollback();
            }
            case "setSavepoint" -> {
                requireManual("setSavepoint()");
                begin();
                yield call.run(this);
            }
            case "close" -> {
                close();
                yield null;
            }
            default -> call.unwrapsTarget() ? unwrap(call) : withSettings(call);
        };
    }

    /** The driver's own object would be in a transaction of ours that nothing ends. */
    private @Nullable Object unwrap(JdbcCall call) throws Throwable {
        requireManual("unwrap(" + call.arguments().get(0) + ")");
        begin();
        return call.run(this);
    }

    private @Nullable Object withSettings(JdbcCall call) throws Throwable {
        return APART.contains(call.name()) ? apart(call) : call.run(this);
    }

    private @Nullable Object onChild(JdbcCall call) throws Throwable {
        String name = call.name();
        if (call.isOn(DatabaseMetaData.class) || call.isOn(ResultSetMetaData.class)) {
            return apart(call);
        }
        if (call.isOn(Blob.class) || call.isOn(Clob.class) || call.makesLargeObject()) {
            requireManual("A large object");
            begin();
            return translated(call);
        }
        if (call.unwrapsTarget()) {
            return unwrap(call);
        }
        if (call.target() instanceof Statement statement && name.startsWith("execute")) {
            return execute(call, statement);
        }
        if (call.isOn(ResultSet.class) && WRITES_ROW.contains(name)) {
            return execute(call, behind(call));
        }
        if (call.isOn(ResultSet.class) && (name.startsWith("update") || name.equals("moveToInsertRow"))) {
            return apart(call); // the driver looks for the primary key
        }
        return call.isOn(ResultSet.class) && FETCHES.contains(name) ? inFlight(call, behind(call)) : call.run(this);
    }

    private static @Nullable Statement behind(JdbcCall call) throws SQLException {
        return ((ResultSet) call.target()).getStatement();
    }

    private @Nullable Object execute(JdbcCall call, @Nullable Statement statement) throws Throwable {
        begin();
        if (!autoCommit) {
            return inFlight(call, statement);
        }
        Object result;
        try {
            result = fetchingAll(call, statement);
        } catch (Throwable failure) {
            transaction = null;
            Connections.rollback(raw, failure);
            throw failure;
        }
        commit();
        return result;
    }

    /** Makes the driver read all rows before it returns: there is no cursor after the commit. */
    private @Nullable Object fetchingAll(JdbcCall call, @Nullable Statement statement) throws Throwable {
        int fetchSize = statement == null ? 0 : statement.getFetchSize();
        if (statement == null || fetchSize == 0) {
            return inFlight(call, statement);
        }
        statement.setFetchSize(0);
        try {
            return inFlight(call, statement);
        } finally {
            if (!statement.isClosed()) {
                statement.setFetchSize(fetchSize);
            }
        }
    }

    private @Nullable Object inFlight(JdbcCall call, @Nullable Statement statement) throws Throwable {
        LeasedTransaction open = transaction;
        if (losses == null || open == null || open.lease() == null || statement == null) {
            return translated(call);
        }
        Flight flight = new Flight(open.lease(), statement);
        losses.add(flight);
        try {
            return call.run(this);
        } catch (SQLException failure) {
            land(flight, open);
            throw open.translated(failure);
        } finally {
            land(flight, open);
            losses.remove(flight);
        }
    }

    private static void land(Flight flight, LeasedTransaction open) {
        if (flight.end()) {
            open.cancelled();
        }
    }

    private @Nullable Object translated(JdbcCall call) throws Throwable {
        try {
            return call.run(this);
        } catch (SQLException failure) {
            throw transaction == null ? failure : transaction.translated(failure);
        }
    }

    /** Calls the driver outside of any transaction if none is open, so that none is left open. */
    private @Nullable Object apart(JdbcCall call) throws Throwable {
        if (transaction != null) {
            return call.run(this);
        }
        requireIdle();
        raw.setAutoCommit(true);
        try {
            return call.run(this);
        } finally {
            raw.setAutoCommit(false);
        }
    }

    private void begin() throws SQLException {
        if (transaction != null) {
            return;
        }
        requireIdle();
        LeasedTransaction begun = takeLease();
        try {
            if (begun.commit() == null) {
                makeReadOnly();
            } else {
                begun.commit().begin();
            }
        } catch (SQLException | RuntimeException e) {
            Connections.rollback(raw, e);
            throw e;
        }
        transaction = begun;
    }

    private void makeReadOnly() throws SQLException {
        try (Statement statement = raw.createStatement();
                ResultSet answer = statement.executeQuery(READ_ONLY)) {
            if (!answer.next() || !answer.getBoolean(1)) {
                throw pastTheFence();
            }
        }
    }

    private LeasedTransaction takeLease() {
        Lease lease = leases.get();
        if (lease == null) {
            return LeasedTransaction.readOnly("this process holds no lease");
        }
        try {
            FencingToken token = lease.requireToken();
            return LeasedTransaction.of(lease, token, new SealedCommit(seal, lease, fence.claims(lease, token), raw));
        } catch (LeaseLostException e) {
            return LeasedTransaction.readOnly("the lease is lost (" + e.getMessage() + ")");
        }
    }

    /** Ends the transaction of the user; whatever this throws, it is over. */
    private void commit() throws SQLException {
        LeasedTransaction ending = transaction;
        if (ending == null) {
            requireIdle();
            raw.rollback(); // nothing is there to be lost
            return;
        }
        transaction = null;
        if (ending.commit() == null) {
            commitReadOnly(ending);
        } else {
            ending.commit().run(ending.refusal());
        }
    }

    private void commitReadOnly(LeasedTransaction ending) throws SQLException {
        try {
            if (ending.refusal() != null) {
                throw ending.refusal();
            }
            raw.commit();
        } catch (SQLException | RuntimeException e) {
            Connections.rollback(raw, e);
            if (ending.translated(e) instanceof RuntimeException refused) {
                throw refused;
            }
            throw e;
        }
    }

    private @Nullable Object rollback() throws SQLException {
        transaction = null;
        raw.rollback();
        return null;
    }

    /** Frameworks end what only read in this way too, and some never give the connection back if that is refused. */
    private void setAutoCommit(boolean wanted) throws SQLException {
        if (wanted && !autoCommit) {
            LeasedTransaction ending = transaction;
            if (ending != null && ending.token() != null && wroteNothing(ending)) {
                transaction = null;
                commitReadOnly(ending);
            } else {
                commit();
            }
        }
        autoCommit = wanted;
    }

    private boolean wroteNothing(LeasedTransaction ending) throws SQLException {
        try {
            return Unwritten.freeze(raw);
        } catch (SQLException e) {
            transaction = null;
            Connections.rollback(raw, e);
            RuntimeException earlier = ending.refusal();
            throw earlier == null ? e : new SQLException(earlier.getMessage(), e.getSQLState(), earlier);
        }
    }

    private void close() throws SQLException {
        closed = true;
        transaction = null;
        try {
            if (!raw.isClosed()
                    && Connections.rollback(raw, new SQLException("The connection is not returned as good"))) {
                raw.setAutoCommit(autoCommitBefore);
            }
        } finally {
            raw.close();
        }
    }

    private void requireManual(String what) throws SQLException {
        if (autoCommit) {
            throw new SQLException(
                    what
                            + " needs a transaction, and this connection is in auto-commit mode: call setAutoCommit(false)",
                    NO_TRANSACTION);
        }
    }

    /** Finds what was done with the driver's connection, past this one. */
    private void requireIdle() throws SQLException {
        if (Connections.hasOpenTransaction(raw)) {
            IllegalStateException past = pastTheFence();
            Connections.rollback(raw, past);
            throw past;
        }
    }

    private static IllegalStateException pastTheFence() {
        return new IllegalStateException("Statements were run on this connection past its FencedDataSource, after a"
                + " transaction and before the next one; they were rolled back. Use what unwrap(..) returns only until the"
                + " next commit() or rollback()");
    }

    @Override
    public void join(FencingToken token) {
        lock.lock();
        try {
            if (!autoCommit) {
                begin();
            }
            LeasedTransaction open = transaction == null ? takeLease() : transaction;
            if (open.token() != null) {
                FencedTransaction.requireSame(open.token(), token);
            }
        } catch (SQLException e) {
            throw new FencingException("The transaction of this connection could not begin: " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void refuse(RuntimeException refusal) {
        LeasedTransaction open = transaction;
        if (open != null) {
            open.refuse(refusal);
        }
    }
}
