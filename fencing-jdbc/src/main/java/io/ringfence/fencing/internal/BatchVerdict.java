package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.IndeterminateCountException;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.PartiallyFencedException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Judges all entries of a batch together. */
final class BatchVerdict {
    private static final int NAMED_ENTRIES = 10;

    private final List<? extends RowWrite> entries;
    private final FencingToken token;
    private final ExpectedRows expected;
    private final RowVerdict.SchemaCheck schema;
    private final Map<Integer, @Nullable FencedOutException> refused = new TreeMap<>();
    private @Nullable FencedOutException worst;

    BatchVerdict(
            List<? extends RowWrite> entries,
            FencingToken token,
            ExpectedRows expected,
            RowVerdict.SchemaCheck schema) {
        this.entries = entries;
        this.token = token;
        this.expected = expected;
        this.schema = schema;
    }

    /** Returns what is wrong with these numbers of rows, or null if nothing is. */
    @Nullable
    FencingException on(long[] counts) throws SQLException {
        if (counts.length != entries.size()) {
            return new IndeterminateCountException("table " + entries.get(0).table(), counts.length);
        }
        for (int i = 0; i < counts.length; i++) {
            if (isSettled() && counts[i] == 0 && expected.minimum() > 0) {
                // nothing that a read could find would make it worse
                refused.put(i, null);
                continue;
            }
            FencingException wrong = new RowVerdict(entries.get(i), token, schema).on(counts[i], expected);
            if (wrong != null && !(wrong instanceof FencedOutException)) {
                return wrong;
            }
            if (wrong instanceof FencedOutException refusal) {
                refused.put(i, refusal);
                FencedOutException before = worst;
                if (before == null || rank(refusal) > rank(before)) {
                    worst = refusal;
                }
            }
        }
        return worst == null ? null : conclude(worst, counts);
    }

    /** A failed read may have ended the transaction, so no further one is tried. */
    private boolean isSettled() {
        FencedOutException found = worst;
        return found != null && (found.reason() == Reason.SUPERSEDED || found.getSuppressed().length > 0);
    }

    private static int rank(FencedOutException refusal) {
        return switch (refusal.reason()) {
            case NO_MATCHING_ROW -> 0;
            case UNKNOWN, NOT_RAISED -> 1;
            case SUPERSEDED -> 2;
        };
    }

    private FencingException conclude(FencedOutException cause, long[] counts) {
        List<Integer> indexes = List.copyOf(refused.keySet());
        long written = Arrays.stream(counts).sum();
        String named = indexes.stream().limit(NAMED_ENTRIES).toList()
                + (indexes.size() > NAMED_ENTRIES ? " and " + (indexes.size() - NAMED_ENTRIES) + " more" : "");
        String message = "A batch of " + counts.length + " entries wrote " + written + " rows and failed at entry "
                + named + ", counted from 0. " + cause.getMessage();
        String key = cause.key().orElse(null);
        Long observed = cause.observed().isPresent() ? cause.observed().getAsLong() : null;
        FencedOutException all;
        if (cause.reason() == Reason.NO_MATCHING_ROW) {
            all = new NoMatchingRowException(message, cause.target(), key, token, observed, indexes);
        } else if (written > 0) {
            all = new PartiallyFencedException(
                    message, cause.target(), key, token, observed, cause.reason(), indexes, written, indexes.size());
        } else {
            all = new FencedOutException(message, cause.target(), key, token, observed, cause.reason(), indexes);
        }
        for (Throwable suppressed : cause.getSuppressed()) {
            all.addSuppressed(suppressed);
        }
        return all;
    }
}
