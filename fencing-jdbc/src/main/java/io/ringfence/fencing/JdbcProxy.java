package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedTransaction;
import java.lang.reflect.InvocationHandler;
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
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is watched, and its statements, results and metadata: all lead back to this connection, and all calls
 * go through one place.
 */
final class JdbcProxy implements InvocationHandler {
    /** What leads on to a connection, the narrower types first. */
    private static final List<Class<?>> TYPES = List.of(
            CallableStatement.class,
            PreparedStatement.class,
            Statement.class,
            ResultSet.class,
            Array.class,
            Blob.class,
            Clob.class,
            DatabaseMetaData.class,
            ResultSetMetaData.class);

    private final Calls calls;
    private final Object target;
    private final @Nullable Object parent;

    private JdbcProxy(Calls calls, Object target, @Nullable Object parent) {
        this.calls = calls;
        this.target = target;
        this.parent = parent;
    }

    /** Who decides about calls. */
    interface Calls {

        /** The transaction that a helper joins. */
        FencedTransaction transaction();

        /** Makes a call, refuses it, or does something else instead. */
        @Nullable
        Object call(JdbcCall call) throws Throwable;
    }

    static Connection of(Calls calls, Connection raw) {
        return proxy(Connection.class, new JdbcProxy(calls, raw, null));
    }

    /** Returns a result as the caller may see it. */
    static @Nullable Object wrap(Calls calls, Object parent, @Nullable Object result) {
        for (Class<?> type : TYPES) {
            if (type.isInstance(result)) {
                return proxy(type, new JdbcProxy(calls, result, parent));
            }
        }
        return result;
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
        return calls.call(new JdbcCall(proxy, target, parent, method, Arrays.asList(given)));
    }

    @SuppressWarnings("ReferenceEquality") // a connection equals only itself
    private Object ofObject(Object proxy, String name, @Nullable Object[] given) {
        return switch (name) {
            case "equals" -> proxy == given[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> target instanceof Array ? target.toString() : "fenced " + target; // drivers bind arrays as text
        };
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(JdbcProxy.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
