package io.ringfence.fencing.internal;

import java.sql.Connection;
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
     * @return how many rows it wrote; negative if the driver does not tell
     * @throws SQLException if the database refuses
     */
    long run(long token) throws SQLException;

    /**
     * Does what {@link #run} does where the database has guards that need to be told the token. A statement that does not
     * tell it itself is run after one that does, in auto-commit in a short transaction.
     *
     * @param connection where the statement runs
     * @param token the token to write and to compare with
     * @return how many rows it wrote; negative if the driver does not tell
     * @throws SQLException if the database refuses
     */
    default long runGuarded(Connection connection, long token) throws SQLException {
        return TokenSetting.telling(connection, token, () -> run(token));
    }

    /**
     * Reads the rows that the statement meant, by key if there is one, else by its whole condition.
     *
     * @return what was found
     * @throws SQLException if the database refuses
     */
    Found look() throws SQLException;

    /**
     * Tells whether nothing newer being there by key explains that nothing was written. It does not where another row than
     * the one with this key may have been in the way.
     *
     * @param found what {@link #look()} found
     * @return whether it is explained
     */
    boolean explains(Found found);

    /**
     * Reads the rows that the condition of the statement is true for and that carry a higher token.
     *
     * @param token the token to compare with
     * @return what was found; nothing if the statement does not tell which rows it meant
     * @throws SQLException if the database refuses
     */
    Found skipped(long token) throws SQLException;

    /**
     * What a read found.
     *
     * @param rows how many rows
     * @param token the highest token among them; null if there is no row, or none with a token
     * @param matching whether the whole condition is true for one of them
     */
    record Found(long rows, @Nullable Long token, boolean matching) {
        /** Nothing. */
        public static final Found NOTHING = new Found(0, null, false);
    }
}
