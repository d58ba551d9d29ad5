package io.ringfence.fencing.internal;

import java.util.List;

/**
 * The columns that a row fence works with, in one dialect.
 *
 * @param written the token column as the user wrote it, and as it is written into statements
 * @param token the same, folded
 * @param keys the columns of the key, folded; none if no key is declared
 */
public record RowColumns(String written, SqlName token, List<SqlName> keys) {

    /**
     * Reads the names.
     *
     * @param dialect whose rules they follow
     * @param token the token column, as SQL writes it
     * @param keys the columns of the key, as SQL writes them
     * @return the columns
     * @throws IllegalArgumentException if one of them is not a name of this dialect
     */
    public static RowColumns of(Dialect dialect, String token, List<String> keys) {
        return new RowColumns(
                token,
                SqlName.parse(dialect, token, 1),
                keys.stream().map(key -> SqlName.parse(dialect, key, 1)).toList());
    }
}
