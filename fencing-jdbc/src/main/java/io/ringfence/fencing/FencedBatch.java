package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One fenced statement that is run for many entries in one round trip.
 *
 * <pre>{@code
 * FencedBatch batch = fence.batch("UPDATE invoice SET status = ? WHERE id = ?");
 * batch.add("closed", 7).add("closed", 8);
 * batch.execute(connection, lease);
 * }</pre>
 *
 * <p>Each entry is to write as many rows as the fence expects, one if nothing else was said. <b>The whole batch is looked at
 * before anything is thrown</b>, and the exception names the entries that failed. The others are written by then: roll the
 * transaction back.
 *
 * <p>Entries stay after an execution, so that a transaction which the database asks to repeat can run them again. Not
 * thread-safe.
 */
public final class FencedBatch {
    private final RowFence fence;
    private final String sql;
    private final List<@Nullable Object[]> entries = new ArrayList<>();

    FencedBatch(RowFence fence, String sql) {
        this.fence = fence;
        this.sql = sql;
    }

    /**
     * Adds an entry.
     *
     * @param parameters one value for each {@code ?} of the statement
     * @return this batch
     */
    public FencedBatch add(@Nullable Object... parameters) {
        entries.add(parameters.clone());
        return this;
    }

    /** {@return how many entries were added} */
    public int size() {
        return entries.size();
    }

    /**
     * Runs all entries with one token.
     *
     * @param connection where to run them, in a transaction; left alone but for the batch
     * @param source the lease, or a bare token; asked once, before any SQL is sent
     * @return how many rows each entry wrote, in the order of {@link #add}; nothing if the batch is empty
     * @throws PartiallyFencedException if some entries were written and others refused
     * @throws FencedOutException if entries were refused and none was written; {@link FencedOutException#entries()} names
     *     them here too
     * @throws NoMatchingRowException if rows are missing, and no newer leader is the cause
     * @throws TooManyRowsException if an entry wrote more rows than expected
     * @throws IndeterminateCountException if the driver does not tell how many rows were written
     * @throws io.ringfence.election.LeaseLostException if the lease is lost; nothing was sent
     * @throws io.ringfence.election.TokenRegressionException if a higher token was found, and Consul confirms that the
     *     lease is the current one
     * @throws NotFenceableException if the statement or its target cannot be fenced, or if it has RETURNING
     * @throws FenceSchemaException if the token column is missing or of the wrong type
     * @throws IllegalArgumentException if an entry has the wrong number of parameters; nothing was sent
     * @throws IllegalStateException if the connection is in auto-commit, or belongs to a fenced transaction with another
     *     token
     * @throws java.sql.BatchUpdateException if an entry fails for another reason
     * @throws SQLException if the database refuses for reasons of its own
     */
    public long[] execute(Connection connection, FencingTokenSource source) throws SQLException {
        FencingToken token = source.requireToken();
        FencedStatement statement = fence.compile(Dialect.of(connection), sql);
        if (statement.isReturning()) {
            throw new NotFenceableException("A batch returns no rows, and this statement has RETURNING: " + sql
                    + "\nLeave it out, or run the statement once for each entry");
        }
        List<JdbcWrite> writes = new ArrayList<>();
        for (@Nullable Object[] parameters : entries) {
            writes.add(new JdbcWrite(connection, statement, parameters, JdbcRun::update));
        }
        return fence.writer()
                .write(
                        connection,
                        source,
                        token,
                        writes,
                        value -> run(connection, statement, writes, value),
                        fence.expected());
    }

    private static long[] run(Connection connection, FencedStatement statement, List<JdbcWrite> writes, long token)
            throws SQLException {
        try (PreparedStatement batch =
                connection.prepareStatement(statement.fenced().sql())) {
            for (JdbcWrite write : writes) {
                write.bind(batch, statement.fenced(), token);
                batch.addBatch();
            }
            return counts(batch);
        }
    }

    private static long[] counts(PreparedStatement batch) throws SQLException {
        try {
            return batch.executeLargeBatch();
        } catch (UnsupportedOperationException e) {
            int[] counts = batch.executeBatch();
            long[] wide = new long[counts.length];
            for (int i = 0; i < counts.length; i++) {
                wide[i] = counts[i];
            }
            return wide;
        }
    }
}
