package io.ringfence.fencing.internal;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** One fenced statement with its values, ready to run; the same for plain JDBC and jOOQ. */
public interface RowWrite {

    /** {@return the name of the table} */
    SqlName table();

    /** {@return the key for messages, or null if the {@linkplain #look() look} does not go by key} */
    @Nullable
    String key();

    /**
     * Runs the statement with its fence.
     *
     * @param token the token to write and to compare with
     * @return how many rows it wrote
     * @throws SQLException if the database refuses
     */
    int run(long token) throws SQLException;

    /**
     * Reads the rows that the statement meant, by key if there is one, else by its whole predicate.
     *
     * @return what was found
     * @throws SQLException if the database refuses
     */
    Found look() throws SQLException;

    /**
     * What a look found.
     *
     * @param rows how many rows
     * @param token the highest token among them, null without rows
     * @param matching whether the whole predicate is true for one of them
     */
    record Found(long rows, @Nullable Long token, boolean matching) {}
}
