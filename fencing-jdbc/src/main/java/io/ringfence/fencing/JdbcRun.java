package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** How a fenced statement is run, and its rows counted. */
interface JdbcRun {

    default PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** Runs the statement and returns how many rows it wrote. */
    long execute(PreparedStatement write) throws SQLException;

    /** Runs a statement that returns nothing. */
    static long update(PreparedStatement write) throws SQLException {
        try {
            return write.executeLargeUpdate();
        } catch (UnsupportedOperationException e) {
            return write.executeUpdate();
        }
    }
}
