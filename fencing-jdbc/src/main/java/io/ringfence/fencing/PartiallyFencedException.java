package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fenced statement or batch wrote some of its rows and was kept from others.
 *
 * <p><b>The rows are written when this is thrown.</b> In the caller's own transaction only a rollback undoes them, and in
 * auto-commit nothing does; inside {@link ResourceFence#inTransaction} the commit is refused.
 */
public final class PartiallyFencedException extends FencedOutException {
    private static final long serialVersionUID = 1L;

    /** How many rows were written. */
    private final long written;

    /** How many rows a newer leader holds. */
    private final long skipped;

    /**
     * Creates an exception.
     *
     * @param message what was refused, by what, and what to do next
     * @param target the table, for example {@code table invoice}
     * @param key the row in question, if known
     * @param presented the token that the write came with
     * @param observed the highest token that was found, if one was
     * @param reason why not all was written
     * @param entries which entries were refused, if it was a batch
     * @param written how many rows were written
     * @param skipped how many rows were found that a newer leader holds
     */
    public PartiallyFencedException(
            String message,
            String target,
            @Nullable String key,
            FencingToken presented,
            @Nullable Long observed,
            Reason reason,
            List<Integer> entries,
            long written,
            long skipped) {
        super(message, target, key, presented, observed, reason, entries);
        this.written = written;
        this.skipped = skipped;
    }

    /** {@return how many rows were written} */
    public long written() {
        return written;
    }

    /** {@return how many rows were found that a newer leader holds; in a batch, how many of its entries wrote nothing} */
    public long skipped() {
        return skipped;
    }
}
