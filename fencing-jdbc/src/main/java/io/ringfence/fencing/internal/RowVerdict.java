package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.IndeterminateCountException;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.PartiallyFencedException;
import io.ringfence.fencing.TooManyRowsException;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Judges how many rows a fenced statement wrote, and finds out why it did not write the others. */
final class RowVerdict {
    /** Serialization failures, deadlocks, and MariaDB's report that a row has changed since the snapshot. */
    private static final Set<String> RETRYABLE = Set.of("40001", "40P01");

    private static final int CHANGED_SINCE_LAST_READ = 1020;

    private final RowWrite write;
    private final FencingToken token;
    private final SchemaCheck schema;

    RowVerdict(RowWrite write, FencingToken token, SchemaCheck schema) {
        this.write = write;
        this.token = token;
        this.schema = schema;
    }

    /** Returns what is wrong with this number of rows, or null if nothing is. */
    @Nullable
    FencingException on(long rows, ExpectedRows expected) throws SQLException {
        if (!expected.isChecked()) {
            return null;
        }
        if (rows < 0) {
            return new IndeterminateCountException(target(), rows);
        }
        if (rows > expected.maximum()) {
            return new TooManyRowsException(target(), rows, expected);
        }
        if (rows == 0 && expected.minimum() > 0) {
            return diagnose();
        }
        return expected.isOpen() || rows < expected.minimum() ? skipped(rows, expected) : null;
    }

    private @Nullable FencingException skipped(long rows, ExpectedRows expected) throws SQLException {
        RowWrite.Found found;
        try {
            found = write.skipped(token.value());
        } catch (SQLException | RuntimeException e) {
            FencedOutException unknown =
                    partial(rows, RowWrite.Found.NOTHING, "the read that should tell whether rows were skipped failed");
            return explained(unknown, e);
        }
        Long observed = found.token();
        if (observed == null && found.rows() > 0) {
            return withoutToken();
        }
        if (observed == null) {
            return rows < expected.minimum()
                    ? partial(rows, found, "it was to write " + expected + ", and no row with a newer token was found")
                    : null;
        }
        String why = found.rows() + " more match and carry token " + observed + " of a newer leader";
        return rows == 0 ? superseded(observed) : partial(rows, found, why);
    }

    private FencingException diagnose() throws SQLException {
        RowWrite.Found found;
        try {
            found = write.look();
        } catch (SQLException | RuntimeException e) {
            return explained(
                    unknown(null, "it changed no row, and the read that should tell why failed (suppressed)"), e);
        }
        Long observed = found.token();
        if (observed == null && found.rows() > 0) {
            return withoutToken();
        }
        if (observed != null && observed > token.value()) {
            return superseded(observed);
        }
        if (found.matching()) {
            return unknown(
                    observed,
                    "a row matches and carries no higher token, but was not written;"
                            + " a trigger or row-level security may have prevented it, or the row changed meanwhile");
        }
        if (write.explains(found)) {
            return noMatchingRow(found);
        }
        if (write.key() != null) {
            return unknown(
                    observed,
                    "no newer row has its key, but another row may have been in the way, or a trigger; for an upsert, let"
                            + " the columns of the declared key be its conflict target");
        }
        return unknown(
                observed,
                "no row matches, and without a key it cannot be told whether a newer leader is the cause;"
                        + " declare a key and compare it with = in the WHERE");
    }

    /** A row with NULL refuses every leader; the column must have become nullable since it was looked at. */
    private FencingException withoutToken() throws SQLException {
        FencingException wrong = schema.recheck(write.table());
        return wrong != null ? wrong : unknown(null, "a row that matches carries NULL for a token");
    }

    /** Keeps the failure of a read beside what it leaves unexplained; passes it on if it asks for a retry. */
    private static FencedOutException explained(FencedOutException unknown, Exception failure) throws SQLException {
        if (isRetryable(failure)) {
            if (failure instanceof SQLException sql) {
                throw sql;
            }
            throw (RuntimeException) failure;
        }
        unknown.addSuppressed(failure);
        return unknown;
    }

    private NoMatchingRowException noMatchingRow(RowWrite.Found found) {
        String what = found.rows() == 0 ? "no such row is visible" : "the row is there, but another condition is false";
        return new NoMatchingRowException(
                describe() + " matched no row: " + what + "; nothing newer was seen, so this is no fencing."
                        + " Insert the row or check the statement",
                target(),
                write.key(),
                token,
                found.token());
    }

    private FencedOutException superseded(long observed) {
        return new FencedOutException(
                describe() + " was refused: the row carries token " + observed + " of a newer leader."
                        + " Another process leads: roll back and stop this term's work; do not retry with this token",
                target(),
                write.key(),
                token,
                observed,
                Reason.SUPERSEDED);
    }

    private FencedOutException unknown(@Nullable Long observed, String why) {
        return new FencedOutException(
                describe() + " wrote nothing: " + why + ". Roll back, and do not assume that this process still leads",
                target(),
                write.key(),
                token,
                observed,
                Reason.UNKNOWN);
    }

    private PartiallyFencedException partial(long rows, RowWrite.Found found, String why) {
        return new PartiallyFencedException(
                describe() + " wrote " + rows + " rows and not all it was to: " + why
                        + ". Roll back: a part of a write is no write. If a newer leader is the cause, stop this term's work",
                target(),
                write.key(),
                token,
                found.token(),
                found.rows() > 0 ? Reason.SUPERSEDED : Reason.UNKNOWN,
                List.of(),
                rows,
                found.rows());
    }

    private String describe() {
        String key = write.key();
        return "The write to " + target() + (key == null ? "" : " (" + key + ")") + " with token " + token;
    }

    private String target() {
        return "table " + write.table();
    }

    /** Tells whether the database asks to run the transaction again: that is never a refusal of ours. */
    static boolean isRetryable(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql
                    && (RETRYABLE.contains(String.valueOf(sql.getSQLState()))
                            || (sql.getErrorCode() == CHANGED_SINCE_LAST_READ && "HY000".equals(sql.getSQLState())))) {
                return true;
            }
        }
        return false;
    }

    /** Looks at the token column again. */
    @FunctionalInterface
    interface SchemaCheck {

        /** Returns what is wrong with it now, or null if nothing is. */
        @Nullable
        FencingException recheck(SqlName table) throws SQLException;
    }
}
