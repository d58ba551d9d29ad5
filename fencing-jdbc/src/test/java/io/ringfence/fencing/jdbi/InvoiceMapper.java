package io.ringfence.fencing.jdbi;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.StatementContext;

/** Reads an invoice. */
public final class InvoiceMapper implements RowMapper<Invoice> {

    @Override
    public Invoice map(ResultSet row, StatementContext context) throws SQLException {
        return new Invoice(row.getInt("id"), row.getString("status"));
    }
}
