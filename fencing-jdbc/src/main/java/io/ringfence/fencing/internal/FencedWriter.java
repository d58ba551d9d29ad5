package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.TooManyRowsException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs fenced statements that are to write one row, and explains it when they write none. Serves one database.
 *
 * <p>Thread-safe.
 */
public final class FencedWriter {
    private static final Logger LOG = LoggerFactory.getLogger(FencedWriter.class);

    private final TargetCheck targets;

    /**
     * Creates a writer that knows no table yet.
     *
     * @param column the token column, folded
     */
    public FencedWriter(String column) {
        this.targets = new TargetCheck(column);
    }

    /**
     * Runs a statement.
     *
     * @param connection where to; left as it is, but for the statement
     * @param source where the token comes from; asked before any SQL is sent
     * @param write the statement
     * @return 1
     * @throws SQLException if the database refuses for reasons of its own
     */
    public int write(Connection connection, FencingTokenSource source, RowWrite write) throws SQLException {
        FencingToken token = source.requireToken();
        Optional<FencedTransaction> transaction = FencedTransaction.of(connection);
        transaction.ifPresent(joined -> joined.join(token));
        targets.check(connection, write.table());
        int rows = write.run(token.value());
        if (rows == 1) {
            return rows;
        }
        RuntimeException refusal = rows == 0
                ? Refusals.confirmed(source, diagnose(write, token))
                : new TooManyRowsException(target(write), rows);
        if (!(refusal instanceof NoMatchingRowException)) {
            transaction.ifPresent(joined -> joined.refuse(refusal));
        }
        Refusals.log(LOG, refusal);
        throw refusal;
    }

    /** A plain read: one that locks can deadlock with the new leader. */
    private static FencedOutException diagnose(RowWrite write, FencingToken token) throws SQLException {
        RowWrite.Found found;
        try {
            found = write.look();
        } catch (SQLException | RuntimeException e) {
            if (isRetryable(e)) {
                throw e;
            }
            FencedOutException unknown = unknown(
                    write, token, null, "it changed no row, and the read that should tell why failed (suppressed)");
            unknown.addSuppressed(e);
            return unknown;
        }
        Long observed = found.token();
        if (observed != null && observed > token.value()) {
            return superseded(write, token, observed);
        }
        if (found.matching()) {
            return unknown(
                    write,
                    token,
                    observed,
                    "a row matches and carries no higher token, but was not written;"
                            + " a trigger or row-level security may have prevented it, or the row changed meanwhile");
        }
        if (write.key() != null) {
            return noMatchingRow(write, token, found);
        }
        return unknown(
                write,
                token,
                observed,
                "no row matches, and without a key it cannot be told whether a newer leader is the cause;"
                        + " declare a key and compare it with = in the WHERE");
    }

    private static NoMatchingRowException noMatchingRow(RowWrite write, FencingToken token, RowWrite.Found found) {
        String what = found.rows() == 0 ? "no such row is visible" : "another condition of the statement is false";
        return new NoMatchingRowException(
                describe(write, token) + " matched no row: " + what + "; nothing newer was seen, so this is no"
                        + " fencing. Insert the row or check the statement",
                target(write),
                write.key(),
                token,
                found.token());
    }

    private static FencedOutException superseded(RowWrite write, FencingToken token, long observed) {
        return new FencedOutException(
                describe(write, token) + " was refused: the row carries token " + observed + " of a newer leader."
                        + " Another process leads: roll back and stop this term's work; do not retry with this token",
                target(write),
                write.key(),
                token,
                observed,
                Reason.SUPERSEDED);
    }

    private static FencedOutException unknown(RowWrite write, FencingToken token, @Nullable Long observed, String why) {
        return new FencedOutException(
                describe(write, token) + " wrote nothing: " + why
                        + ". Roll back, and do not assume that this process still leads",
                target(write),
                write.key(),
                token,
                observed,
                Reason.UNKNOWN);
    }

    private static String describe(RowWrite write, FencingToken token) {
        String key = write.key();
        return "The write to " + target(write) + (key == null ? "" : " (" + key + ")") + " with token " + token;
    }

    private static String target(RowWrite write) {
        return "table " + write.table();
    }

    /** Tells whether the database asks to run the transaction again: that is never a refusal of ours. */
    private static boolean isRetryable(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql
                    && ("40001".equals(sql.getSQLState()) || "40P01".equals(sql.getSQLState()))) {
                return true;
            }
        }
        return false;
    }
}
