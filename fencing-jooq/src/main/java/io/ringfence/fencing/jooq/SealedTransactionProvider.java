package io.ringfence.fencing.jooq;

import io.ringfence.fencing.FencedDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import org.jooq.Configuration;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConnectionProvider;
import org.jspecify.annotations.Nullable;

/**
 * Begins transactions on fenced connections and ends them with a seal.
 *
 * <p>jOOQ calls {@link #commit} for nested transactions too, and shares this among all. Each level has its own in the data of
 * the configuration that jOOQ derives for it: one that fails to begin or to end leaves those above alone.
 */
final class SealedTransactionProvider implements TransactionProvider {
    private static final Object LEVEL = SealedTransactionProvider.class;

    private final FencedDataSource fenced;

    SealedTransactionProvider(FencedDataSource fenced) {
        this.fenced = fenced;
    }

    @Override
    public void begin(TransactionContext context) {
        Configuration configuration = context.configuration();
        // until it has begun, a rollback must not take this for the level above
        Object above = configuration.data().remove(LEVEL);
        try {
            if (above instanceof Level outer) {
                configuration.data(LEVEL, new Level(outer.connection, outer.connection.setSavepoint()));
                return;
            }
            Connection connection = fenced.getConnection();
            connection.setAutoCommit(false);
            configuration.data(LEVEL, new Level(connection, null));
            configuration.set(new DefaultConnectionProvider(connection));
        } catch (SQLException e) {
            throw failed("begin", e);
        }
    }

    @Override
    public void commit(TransactionContext context) {
        if (!(context.configuration().data(LEVEL) instanceof Level level)) {
            throw new IllegalStateException("There is no sealed transaction to commit");
        }
        try {
            if (level.savepoint != null) {
                level.connection.releaseSavepoint(level.savepoint);
                return;
            }
            level.connection.commit();
        } catch (SQLException e) {
            throw failed("commit", e);
        }
        close(level);
    }

    /** Also after a commit that failed: the connection has rolled back by then, and a savepoint is still there. */
    @Override
    public void rollback(TransactionContext context) {
        if (!(context.configuration().data(LEVEL) instanceof Level level)) {
            return; // it did not begin
        }
        if (level.savepoint != null) {
            try {
                level.connection.rollback(level.savepoint);
            } catch (SQLException e) {
                throw failed("roll back to a savepoint of", e);
            }
            return;
        }
        try {
            level.connection.rollback();
        } catch (SQLException e) {
            throw failed("roll back", e);
        } finally {
            close(level);
        }
    }

    /** A connection that is closed rolls back what was not committed. */
    private static void close(Level level) {
        try {
            level.connection.close();
        } catch (SQLException e) {
            throw failed("close the connection of", e);
        }
    }

    private static DataAccessException failed(String what, SQLException e) {
        return new DataAccessException("Could not " + what + " a sealed transaction: " + e.getMessage(), e);
    }

    /** A transaction that is open, or one that is nested in it and is a savepoint of the same connection. */
    private record Level(Connection connection, @Nullable Savepoint savepoint) {}
}
