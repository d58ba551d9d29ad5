package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedTransaction;
import io.ringfence.fencing.internal.TransactionControl;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connection that work gets, and its statements, results and metadata: all lead back to this connection, none can
 * end the transaction, and none works after its end.
 */
final class TransactionConnection implements InvocationHandler {
    private static final Set<String> REFUSED =
            Set.of("commit", "setAutoCommit", "close", "abort", "setReadOnly", "setTransactionIsolation");
    private static final Set<String> TAKES_SQL = Set.of(
            "prepareStatement",
            "prepareCall",
            "execute",
            "executeQuery",
            "executeUpdate",
            "executeLargeUpdate",
            "addBatch");

    private final SealedTransaction transaction;
    private final Object target;
    private final @Nullable Object parent;

    private TransactionConnection(SealedTransaction transaction, Object target, @Nullable Object parent) {
        this.transaction = transaction;
        this.target = target;
        this.parent = parent;
    }

    static Connection of(SealedTransaction transaction, Connection raw) {
        return proxy(Connection.class, new TransactionConnection(transaction, raw, null));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        @Nullable Object[] given = arguments == null ? new Object[0] : arguments;
        String name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, given);
        }
        boolean ours = given.length == 1 && given[0] == FencedTransaction.class;
        if (name.equals("isWrapperFor") && ours) {
            return true;
        }
        // a cancel is for a call that is under way, and must not wait for it
        if (name.equals("cancel")) {
            return whileOpen(proxy, method, given);
        }
        transaction.inUse().lock();
        try {
            return whileOpen(proxy, method, given);
        } finally {
            transaction.inUse().unlock();
        }
    }

    private @Nullable Object whileOpen(Object proxy, Method method, @Nullable Object[] given) throws Throwable {
        String name = method.getName();
        if (transaction.isEnded()) {
            return afterTheEnd(name);
        }
        if (name.equals("unwrap") && given[0] == FencedTransaction.class) {
            return transaction;
        }
        if (name.equals("unwrap") && given[0] instanceof Class<?> type) {
            return type.isInstance(proxy) ? proxy : pass(method, given);
        }
        if (target instanceof Connection) {
            refuse(name, given.length);
        }
        if (TAKES_SQL.contains(name) && given.length > 0 && given[0] instanceof String sql) {
            TransactionControl.refuse(sql);
        }
        if (parent != null && name.equals("getConnection")) {
            return parent;
        }
        if (parent != null && name.equals("getStatement")) {
            return parent instanceof Statement ? parent : null;
        }
        return wrap(proxy, pass(method, given));
    }

    @SuppressWarnings("ReferenceEquality") // a connection equals only itself
    private Object ofObject(Object proxy, String name, @Nullable Object[] given) {
        return switch (name) {
            case "equals" -> proxy == given[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> target instanceof Array ? target.toString() : "fenced " + target; // drivers bind arrays as text
        };
    }

    private static @Nullable Object afterTheEnd(String name) throws SQLException {
        return switch (name) {
            case "isClosed" -> true;
            case "close" -> null;
            default -> throw new SQLException("The fenced transaction has ended, and its connection with it");
        };
    }

    private static void refuse(String name, int arguments) {
        if (REFUSED.contains(name) || (name.equals("rollback") && arguments == 0)) {
            throw new IllegalStateException(name + "() is not for the work: this connection belongs to"
                    + " ResourceFence.inTransaction, which commits after the work returns and rolls back if it throws");
        }
    }

    private @Nullable Object pass(Method method, @Nullable Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private @Nullable Object wrap(Object proxy, @Nullable Object result) {
        if (result instanceof CallableStatement) {
            return proxy(CallableStatement.class, child(proxy, result));
        } else if (result instanceof PreparedStatement) {
            return proxy(PreparedStatement.class, child(proxy, result));
        } else if (result instanceof Statement) {
            return proxy(Statement.class, child(proxy, result));
        } else if (result instanceof ResultSet) {
            return proxy(ResultSet.class, child(proxy, result));
        } else if (result instanceof Array) {
            return proxy(Array.class, child(proxy, result));
        } else if (result instanceof Blob) {
            return proxy(Blob.class, child(proxy, result));
        } else if (result instanceof Clob) {
            return proxy(Clob.class, child(proxy, result));
        } else if (result instanceof DatabaseMetaData) {
            return proxy(DatabaseMetaData.class, child(proxy, result));
        }
        return result;
    }

    private TransactionConnection child(Object proxy, Object result) {
        return new TransactionConnection(transaction, result, proxy);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(TransactionConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
