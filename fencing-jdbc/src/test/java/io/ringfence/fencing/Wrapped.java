package io.ringfence.fencing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Data sources that do more than the one behind them. */
final class Wrapped {

    private Wrapped() {}

    /** Returns a data source whose connections are prepared before they are handed out. */
    static DataSource of(DataSource dataSource, Preparation preparation) {
        return (DataSource) proxy(DataSource.class, (proxy, method, arguments) -> {
            Object result = invoke(dataSource, method, arguments);
            if (result instanceof Connection connection) {
                preparation.prepare(connection);
            }
            return result;
        });
    }

    /** Returns a data source on whose connections something happens before each call of a method. */
    static DataSource before(DataSource dataSource, String methodName, Runnable action) {
        return (DataSource) proxy(DataSource.class, (proxy, method, arguments) -> {
            Object result = invoke(dataSource, method, arguments);
            return result instanceof Connection connection
                    ? proxy(Connection.class, (inner, called, given) -> {
                        if (called.getName().equals(methodName)) {
                            action.run();
                        }
                        return invoke(connection, called, given);
                    })
                    : result;
        });
    }

    /** Returns a data source whose connections do not lead to the driver's. */
    static DataSource opaque(DataSource dataSource) {
        return (DataSource) proxy(DataSource.class, (proxy, method, arguments) -> {
            Object result = invoke(dataSource, method, arguments);
            return result instanceof Connection connection
                    ? proxy(
                            Connection.class,
                            (inner, called, given) ->
                                    called.getName().equals("isWrapperFor") ? false : invoke(connection, called, given))
                    : result;
        });
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(Wrapped.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    @FunctionalInterface
    interface Preparation {
        void prepare(Connection connection) throws SQLException;
    }
}
