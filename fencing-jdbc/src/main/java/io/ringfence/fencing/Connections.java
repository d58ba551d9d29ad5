package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How connections end: rolled back or aborted, never with work left open on them. */
final class Connections {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    private static final Set<String> SHUTDOWN = Set.of("57P01", "57P02", "57P03");

    private Connections() {}

    /** Gives the connection back; a failure is logged, because it says nothing about the work that was done. */
    static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            LOG.atWarn().setCause(e).log("A connection could not be closed");
        }
    }

    /** Rolls back, or aborts the connection if that fails. Returns whether the connection is still good. */
    static boolean rollback(Connection connection, Throwable why) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException | RuntimeException e) {
            why.addSuppressed(e);
            abort(connection, why);
            return false;
        }
    }

    private static void abort(Connection connection, Throwable why) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    /** Tells whether the driver has begun a transaction; false where it cannot be asked. */
    static boolean hasOpenTransaction(Connection connection) throws SQLException {
        try {
            return PgDriver.hasOpenTransaction(connection);
        } catch (LinkageError e) {
            LOG.atDebug().setCause(e).log("The driver cannot be asked for open transactions");
            return false;
        }
    }

    /** Tells whether the server or the way to it is gone, so that nothing is known about the statement under way. */
    static boolean isLost(SQLException e) {
        String state = e.getSQLState();
        return state == null || state.startsWith("08") || SHUTDOWN.contains(state);
    }
}
