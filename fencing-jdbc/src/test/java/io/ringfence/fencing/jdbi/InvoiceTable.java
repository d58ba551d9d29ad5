package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.Sql;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Three invoices, two of them written with token 5 and one with none. */
final class InvoiceTable {
    private final DataSource dataSource;

    InvoiceTable(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    InvoiceTable create() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE invoice (id int PRIMARY KEY, status text, doc jsonb NOT NULL DEFAULT '{\"k\": 1}')",
                FenceSchema.postgres().tokenColumn("invoice"),
                "INSERT INTO invoice (id, status, fencing_token)"
                        + " VALUES (1, 'open', 5), (2, 'open', 5), (3, 'open', 0)");
        return this;
    }

    /** Returns the status and the token of an invoice. */
    String row(int id) throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice WHERE id = " + id);
    }

    void execute(String sql) throws SQLException {
        Sql.execute(dataSource, sql);
    }
}
