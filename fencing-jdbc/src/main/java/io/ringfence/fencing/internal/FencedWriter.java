package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.NoMatchingRowException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs fenced statements: asks the lease, checks the target, counts the rows, and throws if they are not what was expected.
 * Serves one database.
 *
 * <p>Thread-safe.
 */
public final class FencedWriter {
    private static final Logger LOG = LoggerFactory.getLogger(FencedWriter.class);
    private static final long[] NO_COUNTS = {};

    private final TargetCheck targets;

    /**
     * Creates a writer that knows no table yet.
     *
     * @param column the token column, as SQL writes it
     */
    public FencedWriter(String column) {
        this.targets = new TargetCheck(column);
    }

    /**
     * Runs a statement.
     *
     * @param connection where to; left as it is, but for the statement
     * @param source where the token came from; asked again only about a refusal
     * @param token the token, asked for before anything else
     * @param write the statement
     * @param expected how many rows it is to write
     * @return how many it wrote
     * @throws SQLException if the database refuses for reasons of its own
     */
    public long write(
            Connection connection, FencingTokenSource source, FencingToken token, RowWrite write, ExpectedRows expected)
            throws SQLException {
        Optional<FencedTransaction> transaction = joined(connection, token);
        long rows;
        try {
            rows = targets.check(connection, write.table())
                    ? write.runGuarded(connection, token.value())
                    : write.run(token.value());
        } catch (SQLException | RuntimeException e) {
            learn(source, transaction, write.table(), token, e);
            throw e;
        }
        refuse(source, transaction, new RowVerdict(write, token, check(connection)).on(rows, expected));
        return rows;
    }

    /**
     * Runs a batch, and looks at all of it before it reports anything.
     *
     * @param connection where to, in a transaction
     * @param source where the token came from; asked again only about a refusal
     * @param token the token, asked for before anything else
     * @param entries the statements with their values
     * @param batch runs them all
     * @param expected how many rows each is to write
     * @return how many each wrote
     * @throws IllegalStateException if the connection is in auto-commit
     * @throws SQLException if the database refuses for reasons of its own
     */
    public long[] write(
            Connection connection,
            FencingTokenSource source,
            FencingToken token,
            List<? extends RowWrite> entries,
            Batch batch,
            ExpectedRows expected)
            throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("A fenced batch needs a transaction, so that none of it stays if a part is"
                    + " refused: call setAutoCommit(false), or use ResourceFence.inTransaction. Nothing was sent");
        }
        Optional<FencedTransaction> transaction = joined(connection, token);
        if (entries.isEmpty()) {
            return NO_COUNTS;
        }
        long[] counts;
        try {
            if (areGuarded(connection, entries)) {
                TokenSetting.tell(connection, token.value());
            }
            counts = batch.run(token.value());
        } catch (SQLException | RuntimeException e) {
            learn(source, transaction, entries.get(0).table(), token, e);
            throw e;
        }
        refuse(source, transaction, new BatchVerdict(entries, token, expected, check(connection)).on(counts));
        return counts;
    }

    private boolean areGuarded(Connection connection, List<? extends RowWrite> entries) throws SQLException {
        boolean guarded = false;
        for (SqlName table : entries.stream().map(RowWrite::table).distinct().toList()) {
            guarded |= targets.check(connection, table);
        }
        return guarded;
    }

    /** Throws a guard's refusal as one of ours. A guard that was not told the token is newer than what is known. */
    private void learn(
            FencingTokenSource source,
            Optional<FencedTransaction> transaction,
            SqlName table,
            FencingToken token,
            Exception failure) {
        if (TokenSetting.isMissing(failure)) {
            targets.forget();
        }
        refuse(source, transaction, GuardRefusal.of(failure, table, token).orElse(null));
    }

    private RowVerdict.SchemaCheck check(Connection connection) {
        return table -> {
            try {
                targets.recheck(connection, table);
                return null;
            } catch (FencingException e) {
                return e;
            }
        };
    }

    private static Optional<FencedTransaction> joined(Connection connection, FencingToken token) throws SQLException {
        Optional<FencedTransaction> transaction = FencedTransaction.of(connection);
        transaction.ifPresent(joined -> joined.join(token));
        return transaction;
    }

    private static void refuse(
            FencingTokenSource source, Optional<FencedTransaction> transaction, @Nullable FencingException wrong) {
        if (wrong == null) {
            return;
        }
        RuntimeException refusal =
                wrong instanceof FencedOutException fenced ? Refusals.confirmed(source, fenced) : wrong;
        if (!(refusal instanceof NoMatchingRowException)) {
            transaction.ifPresent(joined -> joined.refuse(refusal));
        }
        Refusals.log(LOG, refusal);
        throw refusal;
    }

    /** Runs all entries of a batch. */
    @FunctionalInterface
    public interface Batch {

        /**
         * Runs them.
         *
         * @param token the token to write and to compare with
         * @return how many rows each wrote; negative where the driver does not tell
         * @throws SQLException if the database refuses
         */
        long[] run(long token) throws SQLException;
    }
}
