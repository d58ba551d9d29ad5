package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.internal.FencedTransaction;
import io.ringfence.fencing.internal.TransactionControl;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a handle. It makes every transaction of JDBI one that a refused write ends, whichever
 * {@code TransactionHandler} runs it, and is swapped for a sealed one while {@link JdbiFence#inTransaction} runs.
 */
final class HandleConnection implements InvocationHandler, FencedTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(JdbiFence.class);

    private final JdbiFence fence;
    private final Connection raw;
    private Connection current;
    private @Nullable FencingToken token;
    private @Nullable RuntimeException refusal;

    private HandleConnection(JdbiFence fence, Connection raw) {
        this.fence = fence;
        this.raw = raw;
        this.current = raw;
    }

    static Connection of(JdbiFence fence, Connection raw) {
        return proxy(new HandleConnection(fence, raw));
    }

    private static Optional<HandleConnection> find(Handle handle) {
        Connection connection = handle.getConnection();
        try {
            return connection.isWrapperFor(HandleConnection.class)
                    ? Optional.of(connection.unwrap(HandleConnection.class))
                    : Optional.empty();
        } catch (SQLException e) {
            throw new FencingException("The connection of a handle does not tell what it is: " + e.getMessage(), e);
        }
    }

    static HandleConnection require(Handle handle, String what) {
        return find(handle)
                .orElseThrow(() -> new IllegalStateException(what + " needs the plugin: call jdbi.installPlugin(fence)"
                        + " with a JdbiFence on the Jdbi, once, before handles are opened. Nothing was run"));
    }

    private static Connection proxy(InvocationHandler handler) {
        return (Connection) Proxy.newProxyInstance(
                HandleConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, handler);
    }

    JdbiFence fence() {
        return fence;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        String name = method.getName();
        @Nullable Object[] given = arguments == null ? new Object[0] : arguments;
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, given);
        }
        if (given.length == 1 && (given[0] == HandleConnection.class || given[0] == FencedTransaction.class)) {
            return name.equals("unwrap") ? this : true;
        }
        if (name.equals("commit")) {
            end();
            current.commit();
            return null;
        }
        if (name.equals("setAutoCommit") && Boolean.TRUE.equals(given[0])) {
            end();
        }
        if (name.equals("rollback") && given.length == 0) {
            refusal = null;
            token = null;
        }
        if (refusal != null && name.startsWith("prepare") && given[0] instanceof String sql) {
            TransactionControl.refuse(sql);
        }
        return Jdbc.call(method, current, arguments);
    }

    @SuppressWarnings("ReferenceEquality") // a connection equals only itself
    private Object ofObject(Object proxy, String name, @Nullable Object[] given) {
        return switch (name) {
            case "equals" -> proxy == given[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "fenced " + current;
        };
    }

    /** Ends the transaction before it is committed: by a rollback if a write was refused. */
    private void end() {
        RuntimeException refused = refusal;
        refusal = null;
        token = null;
        if (refused != null) {
            ShortTransaction.rollback(current, refused);
            throw refused;
        }
    }

    @Override
    public void join(FencingToken presented) {
        Optional<FencedTransaction> behind = behind();
        if (behind.isPresent()) {
            behind.get().join(presented);
        } else if (isOpen()) {
            if (token != null) {
                FencedTransaction.requireSame(token, presented);
            }
            token = presented;
        }
    }

    @Override
    public void refuse(RuntimeException first) {
        behind().ifPresent(transaction -> transaction.refuse(first));
        if (refusal == null && isOpen()) {
            refusal = first;
        }
    }

    private Optional<FencedTransaction> behind() {
        try {
            return FencedTransaction.of(current);
        } catch (SQLException e) {
            throw unknown(e);
        }
    }

    private boolean isOpen() {
        try {
            return !current.getAutoCommit();
        } catch (SQLException e) {
            throw unknown(e);
        }
    }

    private static FencingException unknown(SQLException e) {
        return new FencingException("A connection does not tell which transaction it is in: " + e.getMessage(), e);
    }

    /** Runs work with a connection that seals what it commits. */
    <R extends @Nullable Object, X extends Exception> R sealed(ResourceFence resource, Lease lease, Work<R, X> work)
            throws X {
        Connection fenced;
        try {
            fenced = resource.fenced(proxy(this::lend), () -> lease);
        } catch (SQLException e) {
            throw new FencingException("A sealed transaction could not begin: " + e.getMessage(), e);
        }
        current = fenced;
        try {
            return work.run();
        } finally {
            current = raw;
            refusal = null;
            token = null;
            giveBack(fenced);
        }
    }

    /** The connection goes on with its handle, and is not closed with the sealed one. */
    private @Nullable Object lend(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws SQLException {
        return method.getName().equals("close") ? null : Jdbc.call(method, raw, arguments);
    }

    private static void giveBack(Connection fenced) {
        try {
            fenced.close();
        } catch (SQLException e) {
            LOG.atWarn().setCause(e).log("The connection of a handle could not be cleaned after a sealed transaction");
        }
    }

    /** What is done while the connection seals. */
    @FunctionalInterface
    interface Work<R extends @Nullable Object, X extends Exception> {

        R run() throws X;
    }
}
