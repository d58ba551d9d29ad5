package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedTransaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.JDBCType;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of a connection, or of an object that came from it.
 *
 * @param proxy what the caller sees
 * @param target the driver's or pool's object behind it
 * @param parent the proxy that it came from; null for a connection
 */
record JdbcCall(Object proxy, Object target, @Nullable Object parent, Method method, List<@Nullable Object> arguments) {
    private static final Set<String> TAKES_SQL = Set.of(
            "prepareStatement",
            "prepareCall",
            "execute",
            "executeQuery",
            "executeUpdate",
            "executeLargeUpdate",
            "addBatch");

    private static final Set<String> LARGE_OBJECT_SETTERS = Set.of("setBlob", "setClob", "setNClob");
    private static final Set<Object> LARGE_OBJECT_TYPES =
            Set.of(Types.BLOB, Types.CLOB, Types.NCLOB, JDBCType.BLOB, JDBCType.CLOB, JDBCType.NCLOB);

    String name() {
        return method.getName();
    }

    boolean isOn(Class<?> type) {
        return type.isInstance(target);
    }

    /** Returns the SQL that the driver is given; null if it is given none. */
    @Nullable
    String sql() {
        return TAKES_SQL.contains(name()) && !arguments.isEmpty() && arguments.get(0) instanceof String sql
                ? sql
                : null;
    }

    /** Tells whether the call asks for what is behind the proxy. */
    boolean unwrapsTarget() {
        return name().equals("unwrap")
                && arguments.get(0) instanceof Class<?> type
                && type != FencedTransaction.class
                && !type.isInstance(proxy);
    }

    /** Tells whether the driver will send a large object to the server at once, before its statement runs. */
    boolean makesLargeObject() {
        if (!isOn(PreparedStatement.class) || !name().startsWith("set") || arguments.size() < 2) {
            return false;
        }
        Object value = arguments.get(1);
        Object type = name().equals("setObject") && arguments.size() > 2 ? arguments.get(2) : null;
        boolean typed = type != null && LARGE_OBJECT_TYPES.contains(type);
        return value != null
                && (typed || LARGE_OBJECT_SETTERS.contains(name()) || value instanceof Blob || value instanceof Clob);
    }

    /** Makes the call; what comes of it leads back to the connection. */
    @Nullable
    Object run(JdbcProxy.Calls calls) throws Throwable {
        if (unwrapsTarget()) {
            return pass();
        }
        if (name().equals("unwrap")) {
            return arguments.get(0) == FencedTransaction.class ? calls.transaction() : proxy;
        }
        if (parent != null && name().equals("getConnection")) {
            return parent;
        }
        if (parent != null && name().equals("getStatement")) {
            return parent instanceof Statement ? parent : null;
        }
        return JdbcProxy.wrap(calls, proxy, pass());
    }

    private @Nullable Object pass() throws Throwable {
        try {
            return method.invoke(target, arguments.toArray());
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /** What an object of a connection that is closed says to this call. */
    @Nullable
    Object afterTheEnd(String what) throws SQLException {
        return switch (name()) {
            case "isClosed" -> true;
            case "isValid" -> false;
            case "close", "abort" -> null;
            default -> throw new SQLException(what, "08003");
        };
    }

    boolean isOnConnection() {
        return isOn(Connection.class);
    }
}
