package io.ringfence.fencing.internal;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Tells the guards of a PostgreSQL database with which token a transaction writes. */
public final class TokenSetting {
    /** SQLSTATE of a guard that was not told. */
    private static final String UNFENCED = "RF002";

    /** Takes the place of a parameter for the token: has its value, and tells it before a trigger sees the row. */
    static final String TELLING_PARAMETER = "CAST(pg_catalog.set_config('" + GuardNames.SETTING
            + "', CAST(? AS pg_catalog.text), true) AS pg_catalog.int8)";

    private TokenSetting() {}

    /**
     * Tells the token for the rest of the transaction. This is no query: the transaction may still choose its isolation
     * afterwards, and its snapshot comes later.
     *
     * @param connection where a transaction is open, or begins with the next statement
     * @param token the token
     * @throws SQLException if the database refuses
     */
    public static void tell(Connection connection, long token) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL " + GuardNames.SETTING + " = '" + token + "'");
        }
    }

    /** Tells the token and runs a statement; in auto-commit, both are one transaction of their own. */
    static long telling(Connection connection, long token, Run run) throws SQLException {
        if (!connection.getAutoCommit()) {
            tell(connection, token);
            return run.run();
        }
        connection.setAutoCommit(false);
        boolean usable = true;
        try {
            tell(connection, token);
            long rows = run.run();
            connection.commit();
            return rows;
        } catch (Throwable failure) {
            usable = rollback(connection, failure);
            throw failure;
        } finally {
            if (usable) {
                connection.setAutoCommit(true);
            }
        }
    }

    /** Switching auto-commit on would commit what could not be rolled back. */
    private static boolean rollback(Connection connection, Throwable why) {
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

    /**
     * {@return whether a guard refused because it was not told a token}
     *
     * @param failure the refusal, whatever a framework wrapped around it
     */
    public static boolean isMissing(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && UNFENCED.equals(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    /** Runs a statement. */
    @FunctionalInterface
    interface Run {

        /** Returns how many rows it wrote. */
        long run() throws SQLException;
    }
}
