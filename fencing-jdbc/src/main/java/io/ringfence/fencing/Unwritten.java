package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Tells transactions that have written nothing, which no fence has to stop. */
final class Unwritten {
    /** Read-only from here on: a cursor WITH HOLD, for one, runs what is left of its query only at the commit. */
    private static final String FREEZE = "SELECT CASE WHEN pg_catalog.pg_current_xact_id_if_assigned() IS NULL"
            + " THEN pg_catalog.set_config('transaction_read_only', 'on', true) END";

    private Unwritten() {}

    /** Makes the transaction read-only if it has written nothing, and tells whether that is so. */
    static boolean freeze(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(FREEZE)) {
            return row.next() && row.getString(1) != null;
        }
    }
}
