package io.ringfence.examples;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.RowFence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;

/** A repository in plain JDBC whose writing methods take a lease. Thread-safe. */
public final class InvoiceBatches {
    private final RowFence rows = RowFence.onColumn(FenceSchema.TOKEN_COLUMN).key("id");

    /**
     * Creates the tables of the example, and what the fences need.
     *
     * @param connection where to create them
     * @throws SQLException if the database refuses
     */
    public static void createTables(Connection connection) throws SQLException {
        FenceSchema fences = FenceSchema.postgres();
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS invoice_batch"
                    + " (id bigint PRIMARY KEY, status text NOT NULL DEFAULT 'open', total bigint)");
            statement.execute("CREATE TABLE IF NOT EXISTS invoice"
                    + " (batch_id bigint NOT NULL REFERENCES invoice_batch, amount bigint NOT NULL)");
            statement.execute("CREATE TABLE IF NOT EXISTS payout"
                    + " (batch_id bigint NOT NULL REFERENCES invoice_batch, amount bigint NOT NULL)");
            statement.execute(fences.tokenColumn("invoice_batch"));
            statement.execute(fences.fenceTable());
        }
    }

    /**
     * Returns the open batch with the lowest id.
     *
     * @param connection where to read
     * @return its id; empty if no batch is open
     * @throws SQLException if the database refuses
     */
    public OptionalLong nextOpen(Connection connection) throws SQLException {
        return query(connection, "SELECT min(id) FROM invoice_batch WHERE status = 'open'");
    }

    /**
     * Returns the sum of a batch's invoices.
     *
     * @param connection where to read
     * @param batch the batch
     * @return the sum; 0 if it has none
     * @throws SQLException if the database refuses
     */
    public long total(Connection connection, long batch) throws SQLException {
        return query(connection, "SELECT coalesce(sum(amount), 0) FROM invoice WHERE batch_id = ?", batch)
                .orElse(0);
    }

    /**
     * Closes an open batch, if no newer leader has written it.
     *
     * @param connection where to write
     * @param lease the leader's lease, or its token
     * @param batch the batch
     * @param total what to close it with
     * @throws NoMatchingRowException if there is no such batch, or it is closed already
     * @throws SQLException if the database refuses
     */
    public void close(Connection connection, FencingTokenSource lease, long batch, long total) throws SQLException {
        String sql = "UPDATE invoice_batch SET status = 'closed', total = ? WHERE id = ? AND status = 'open'";
        rows.update(connection, lease, sql, total, batch);
    }

    /**
     * Pays a batch out. An insert has no row that could carry a token: only a fenced transaction protects it.
     *
     * @param connection the connection of a fenced transaction
     * @param batch the batch
     * @param amount what to pay
     * @throws SQLException if the database refuses
     */
    public void payOut(Connection connection, long batch, long amount) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO payout (batch_id, amount) VALUES (?, ?)")) {
            insert.setLong(1, batch);
            insert.setLong(2, amount);
            insert.executeUpdate();
        }
    }

    private static OptionalLong query(Connection connection, String sql, long... parameters) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                select.setLong(i + 1, parameters[i]);
            }
            try (ResultSet row = select.executeQuery()) {
                row.next();
                long value = row.getLong(1);
                return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
            }
        }
    }
}
