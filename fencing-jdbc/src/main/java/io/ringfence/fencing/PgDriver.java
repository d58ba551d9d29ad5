package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PreferQueryMode;

/**
 * What only PostgreSQL's own driver tells. Nothing else names its types, so that they need not be there: see
 * {@link SealWithCommit#worksOn}.
 *
 * <p>JDBC cannot say whether a transaction is open, nor how statements are sent; a statement that says it would cost
 * the round trip that is to be saved.
 */
final class PgDriver {

    private PgDriver() {}

    /** Tells whether the driver can be reached, and sends several statements as one message that fails as one. */
    static boolean sendsOneMessage(Connection connection) throws SQLException {
        BaseConnection driver = driver(connection);
        if (driver == null) {
            return false;
        }
        // a driver that does not tell is found out now, and not at the first commit
        TransactionState ignored = driver.getTransactionState();
        return isExtended(driver);
    }

    /** Returns the driver's connection if a transaction is open on it, and one message can end it. */
    static @Nullable Connection inOpenTransaction(Connection connection) throws SQLException {
        BaseConnection driver = driver(connection);
        boolean open = driver != null
                && isExtended(driver)
                && !driver.getAutoCommit()
                && driver.getTransactionState() == TransactionState.OPEN;
        return open ? driver : null;
    }

    static boolean hasOpenTransaction(Connection connection) throws SQLException {
        BaseConnection driver = driver(connection);
        return driver != null && driver.getTransactionState() != TransactionState.IDLE;
    }

    private static boolean isExtended(BaseConnection driver) {
        return driver.getPreferQueryMode() != PreferQueryMode.SIMPLE;
    }

    private static @Nullable BaseConnection driver(Connection connection) throws SQLException {
        return connection.isWrapperFor(BaseConnection.class) ? connection.unwrap(BaseConnection.class) : null;
    }
}
