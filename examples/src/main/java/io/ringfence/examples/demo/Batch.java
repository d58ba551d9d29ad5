package io.ringfence.examples.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What both runs of the demo do to an invoice batch. */
final class Batch {
    static final String CLOSE = "UPDATE invoice_batch SET status = 'closed', total = ? WHERE id = ?";

    private Batch() {}

    static long sumOfInvoices(Connection connection, long batch) throws SQLException {
        return query(connection, "SELECT coalesce(sum(amount), 0) FROM invoice WHERE batch_id = ?", batch);
    }

    static long total(Connection connection, long batch) throws SQLException {
        return query(connection, "SELECT coalesce(total, 0) FROM invoice_batch WHERE id = ?", batch);
    }

    static long paidOut(Connection connection, long batch) throws SQLException {
        return query(connection, "SELECT coalesce(sum(amount), 0) FROM payout WHERE batch_id = ?", batch);
    }

    static void addInvoice(Connection connection, long batch, long amount) throws SQLException {
        insert(connection, "INSERT INTO invoice (batch_id, amount) VALUES (?, ?)", batch, amount);
    }

    static void payOut(Connection connection, long batch, long amount) throws SQLException {
        insert(connection, "INSERT INTO payout (batch_id, amount) VALUES (?, ?)", batch, amount);
    }

    static void open(Connection connection, long batch) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO invoice_batch (id) VALUES (?)")) {
            insert.setLong(1, batch);
            insert.executeUpdate();
        }
    }

    private static void insert(Connection connection, String sql, long batch, long amount) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            insert.setLong(1, batch);
            insert.setLong(2, amount);
            insert.executeUpdate();
        }
    }

    private static long query(Connection connection, String sql, long batch) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setLong(1, batch);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
