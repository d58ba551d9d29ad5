package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.SQLException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what a guard says against a fenced write. The fence itself is asked first, so this is about rows of other tables
 * that the write came to by a cascade or a trigger, and about a guard of COMMIT in auto-commit.
 */
final class GuardRefusal {
    private static final Pattern ROW =
            Pattern.compile("of a row of (.{1,200}) with token \\d{1,19} is stale: the row carries token (\\d{1,19})");
    private static final Pattern FENCE = Pattern.compile(
            "fence at token (\\d{1,19}),.*: token \\d{1,19} may not commit to resource \"(.*)\", to which ",
            Pattern.DOTALL);

    private GuardRefusal() {}

    /** Returns the refusal; empty if the failure is of another kind, or does not say enough. */
    static Optional<FencedOutException> of(Throwable failure, SqlName table, FencingToken token) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && FenceSchema.STALE_SQLSTATE.equals(sql.getSQLState())) {
                String message = String.valueOf(sql.getMessage());
                Matcher row = ROW.matcher(message);
                Matcher fence = FENCE.matcher(message);
                return row.find()
                        ? Optional.of(refusal(failure, table, token, "table " + row.group(1), row.group(2)))
                        : fence.find()
                                ? Optional.of(refusal(
                                        failure, table, token, "resource '" + fence.group(2) + "'", fence.group(1)))
                                : Optional.empty();
            }
        }
        return Optional.empty();
    }

    private static FencedOutException refusal(
            Throwable failure, SqlName table, FencingToken token, String target, String observed) {
        FencedOutException refusal = new FencedOutException(
                "The write to table " + table + " with token " + token + " was refused by a guard of the database: "
                        + target + " has token " + observed + " of a newer leader. Another process leads: roll back and"
                        + " stop this term's work; do not retry with this token",
                target,
                null,
                token,
                Long.parseLong(observed),
                Reason.SUPERSEDED);
        refusal.addSuppressed(failure);
        return refusal;
    }
}
