package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fenced statement matched no row, and no newer leader is the cause: the row is missing, or another condition of the
 * statement is false.
 *
 * <p>The transaction stays usable, also inside {@link ResourceFence#inTransaction}, so that an insert may follow.
 */
public final class NoMatchingRowException extends FencedOutException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what was not found, and what to do next
     * @param target the table, for example {@code table invoice}
     * @param key the row in question, if known
     * @param presented the token that the write came with
     * @param observed the token on the row, if the row is there
     */
    public NoMatchingRowException(
            String message, String target, @Nullable String key, FencingToken presented, @Nullable Long observed) {
        super(message, target, key, presented, observed, Reason.NO_MATCHING_ROW);
    }

    /**
     * Creates an exception for a batch.
     *
     * @param message what was not found, and what to do next
     * @param target the table
     * @param key the first row in question, if known
     * @param presented the token that the batch came with
     * @param observed the token on that row, if it is there
     * @param entries which entries matched no row, counted from 0
     */
    public NoMatchingRowException(
            String message,
            String target,
            @Nullable String key,
            FencingToken presented,
            @Nullable Long observed,
            List<Integer> entries) {
        super(message, target, key, presented, observed, Reason.NO_MATCHING_ROW, entries);
    }
}
