package io.ringfence.fencing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A data source that hands out one connection again and again, as a pool does, and cleans up nothing. */
final class KeptOpen {
    private final Connection connection;

    KeptOpen(Connection kept, AtomicInteger closed) {
        connection = (Connection) Proxy.newProxyInstance(
                KeptOpen.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        closed.incrementAndGet();
                        return null;
                    }
                    try {
                        return method.invoke(kept, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    DataSource dataSource() {
        return (DataSource) Proxy.newProxyInstance(
                KeptOpen.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> connection);
    }
}
