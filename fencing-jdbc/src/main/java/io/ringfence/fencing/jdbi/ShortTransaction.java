package io.ringfence.fencing.jdbi;

import java.sql.Connection;
import java.sql.SQLException;

/** A transaction around one batch where none is open, so that nothing of it stays if a part is refused. */
final class ShortTransaction {

    private ShortTransaction() {}

    static <R> R run(Connection connection, Run<R> run) throws SQLException {
        if (!connection.getAutoCommit()) {
            return run.run();
        }
        connection.setAutoCommit(false);
        boolean usable = true;
        try {
            R result = run.run();
            connection.commit();
            return result;
        } catch (Throwable failure) {
            usable = rollback(connection, failure);
            throw failure;
        } finally {
            if (usable) {
                connection.setAutoCommit(true);
            }
        }
    }

    /** Rolls back, or aborts the connection: switching auto-commit on would commit what could not be rolled back. */
    static boolean rollback(Connection connection, Throwable why) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException | RuntimeException e) {
            why.addSuppressed(e);
            try {
                connection.abort(Runnable::run);
            } catch (SQLException | RuntimeException again) {
                why.addSuppressed(again);
            }
            return false;
        }
    }

    /** Runs the batch. */
    @FunctionalInterface
    interface Run<R> {

        R run() throws SQLException;
    }
}
