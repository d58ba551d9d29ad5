package io.ringfence.fencing.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reads that explain what a statement did not write. Both return one row: how many rows, the highest token among them,
 * and whether the condition of the statement is true for one of them.
 *
 * @param key the comparisons of the key, as pieces of text and indexes of parameters; empty if the diagnosis does not go by
 *     key
 * @param conclusion when a row that is not newer, or missing, explains that nothing was written
 * @param diagnosis reads the rows that the statement meant: by key if there is one, else by its whole condition
 * @param skipped reads those that carry a higher token; null if the statement does not tell which rows it meant
 */
public record RowReads(
        List<Object> key,
        Conclusion conclusion,
        SqlTemplate diagnosis,
        @Nullable SqlTemplate skipped) {

    /** When a look by key that finds nothing newer explains that nothing was written. */
    enum Conclusion {
        /** Always. */
        ALWAYS,
        /** If there is a row; an INSERT that finds none has met another one, or a trigger. */
        IF_FOUND,
        /** Never: the row that was in the way is found by something else. */
        NEVER
    }

    /**
     * Tells whether nothing newer being there by key explains that nothing was written.
     *
     * @param found what the diagnosis found
     * @return whether it is explained
     */
    public boolean explains(RowWrite.Found found) {
        return !key.isEmpty()
                && (conclusion == Conclusion.ALWAYS || (conclusion == Conclusion.IF_FOUND && found.rows() > 0));
    }

    /**
     * Returns the key for messages, for example {@code id = 7}.
     *
     * @param values the caller's parameters
     * @return the text, or null if the diagnosis does not go by key
     */
    public @Nullable String keyText(@Nullable Object[] values) {
        if (key.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (Object piece : key) {
            text.append(piece instanceof Integer index ? values[index] : piece);
        }
        return text.toString();
    }
}
