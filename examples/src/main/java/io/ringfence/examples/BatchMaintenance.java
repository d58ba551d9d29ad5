package io.ringfence.examples;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedBatch;
import io.ringfence.fencing.RowFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** What a row fence does beyond one row at a time, on the tables of {@link InvoiceBatches}. Thread-safe. */
public final class BatchMaintenance {
    private final RowFence rows = RowFence.onColumn(FenceSchema.TOKEN_COLUMN).key("id");

    /** Creates a repository. */
    public BatchMaintenance() {}

    /**
     * Cancels all open batches: any number, but none that a newer leader holds.
     *
     * @param connection where to write
     * @param lease the leader's lease, or its token
     * @return how many were open
     * @throws io.ringfence.fencing.PartiallyFencedException if a newer leader holds some: roll back
     * @throws SQLException if the database refuses
     */
    public long cancelOpen(Connection connection, FencingTokenSource lease) throws SQLException {
        String sql = "UPDATE invoice_batch SET status = 'cancelled' WHERE status = 'open'";
        return rows.expecting(ExpectedRows.any()).update(connection, lease, sql);
    }

    /**
     * Closes many batches in one round trip.
     *
     * @param connection where to write, in a transaction
     * @param lease the leader's lease, or its token
     * @param totals what to close each with, by id
     * @throws io.ringfence.fencing.FencedOutException if some are refused or missing; it names the entries
     * @throws SQLException if the database refuses
     */
    public void closeAll(Connection connection, FencingTokenSource lease, Map<Long, Long> totals) throws SQLException {
        FencedBatch batch = rows.batch("UPDATE invoice_batch SET status = 'closed', total = ? WHERE id = ?");
        totals.forEach((id, total) -> batch.add(total, id));
        batch.execute(connection, lease);
    }

    /**
     * Reopens a batch, or creates it.
     *
     * @param connection where to write
     * @param lease the leader's lease, or its token
     * @param id the batch
     * @throws SQLException if the database refuses
     */
    public void open(Connection connection, FencingTokenSource lease, long id) throws SQLException {
        String sql = """
                INSERT INTO invoice_batch (id, status, {fence.column}) VALUES (?, 'open', {fence.token})
                ON CONFLICT (id) DO UPDATE SET status = 'open', {fence.set} WHERE {fence.where invoice_batch}""";
        rows.update(connection, lease, sql, id);
    }
}
