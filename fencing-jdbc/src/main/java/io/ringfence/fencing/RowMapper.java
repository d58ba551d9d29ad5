package io.ringfence.fencing;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Makes a value out of a row that a fenced statement returned.
 *
 * @param <R> the value
 */
@FunctionalInterface
public interface RowMapper<R extends @Nullable Object> {

    /**
     * Reads the current row.
     *
     * @param row the result, on a row; it is not to be moved or closed
     * @return the value
     * @throws SQLException if the row cannot be read
     */
    R map(ResultSet row) throws SQLException;
}
