package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.ExecuteListener;
import org.jooq.ExecuteListenerProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.ThreadLocalTransactionProvider;
import org.jspecify.annotations.Nullable;

/** What a query or record is attached to, narrowed to one connection for as long as it takes. */
final class Attached {
    private Attached() {}

    static Configuration require(@Nullable Configuration configuration) {
        if (configuration == null) {
            throw new IllegalArgumentException(
                    "The query or record is not attached to a Configuration: create it with DSL.using(..) instead of"
                            + " DSL's statics");
        }
        if (configuration.transactionProvider() instanceof ThreadLocalTransactionProvider) {
            throw new NotFenceableException(
                    "jOOQ's ThreadLocalTransactionProvider chooses connections by the thread, so that a fence cannot keep"
                            + " to one. Nothing was run: use jOOQ over FencedDataSource, or its other transactions");
        }
        return configuration;
    }

    static <R> R on(Configuration configuration, Work<R> work) {
        ConnectionProvider connections = configuration.connectionProvider();
        Connection connection = connections.acquire();
        if (connection == null) {
            throw new IllegalArgumentException("The Configuration of the query or record has no connection");
        }
        try {
            return work.run(connection, narrowed(connection, configuration));
        } catch (SQLException e) {
            throw new DataAccessException("A fenced query failed: " + e.getMessage(), e);
        } finally {
            connections.release(connection);
        }
    }

    /** Keeps everything of a configuration but its connections, so that all statements run on one. */
    private static Configuration narrowed(Connection connection, Configuration configuration) {
        DefaultConfiguration own = derived(configuration);
        own.setConnection(connection);
        return own;
    }

    /** The same with listeners of ours, one before those of the user and one after. */
    static Configuration listening(
            Configuration configuration, @Nullable ExecuteListener first, @Nullable ExecuteListener last) {
        List<ExecuteListenerProvider> providers = new ArrayList<>();
        if (first != null) {
            providers.add(() -> first);
        }
        providers.addAll(List.of(configuration.executeListenerProviders()));
        if (last != null) {
            providers.add(() -> last);
        }
        DefaultConfiguration own = derived(configuration);
        own.setExecuteListenerProvider(providers.toArray(ExecuteListenerProvider[]::new));
        return own;
    }

    private static DefaultConfiguration derived(Configuration configuration) {
        if (configuration.derive() instanceof DefaultConfiguration own) {
            return own;
        }
        throw new IllegalArgumentException("A Configuration must derive from jOOQ's DefaultConfiguration, "
                + configuration.getClass().getName() + " does not");
    }

    /**
     * What is done on one connection.
     *
     * @param <R> what it returns
     */
    @FunctionalInterface
    interface Work<R> {

        /** Does it; the configuration has no other connection than this one. */
        R run(Connection connection, Configuration configuration) throws SQLException;
    }
}
