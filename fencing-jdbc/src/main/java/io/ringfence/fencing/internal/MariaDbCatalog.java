package io.ringfence.fencing.internal;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.NotFenceableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.regex.Pattern;

/** MariaDB's catalog, and the settings under which a count of rows or a lock means something else. */
final class MariaDbCatalog implements Catalog {
    private static final String QUERY = """
            SELECT t.TABLE_TYPE, t.ENGINE, c.DATA_TYPE, c.IS_NULLABLE,
                   (SELECT v.VARIABLE_VALUE FROM information_schema.SESSION_VARIABLES v
                     WHERE v.VARIABLE_NAME = 'WSREP_ON')
              FROM information_schema.TABLES t
              LEFT JOIN information_schema.COLUMNS c
                ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_NAME = ?
             WHERE t.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND t.TABLE_NAME = ?
             ORDER BY BINARY t.TABLE_NAME = ? DESC""";
    private static final Pattern AFFECTED_ROWS = Pattern.compile("(?i)[?&]useAffectedRows=(true|1)(&|$)");

    @Override
    public boolean require(Connection connection, SqlName table, SqlName column) throws SQLException {
        requireFoundRows(connection);
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, column.last());
            statement.setString(2, table.schema());
            statement.setString(3, table.last());
            statement.setString(4, table.last());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException(
                            "There is no table " + table + " in the current database or the named one", "42S02");
                }
                requirePlainTable(table, row);
                requireTokenColumn(table, column, row);
            }
        }
        return false;
    }

    private static void requireFoundRows(Connection connection) throws SQLException {
        String url = connection.getMetaData().getURL();
        if (url != null && AFFECTED_ROWS.matcher(url).find()) {
            throw new NotFenceableException(
                    "With useAffectedRows=true the driver counts only rows whose values changed, so"
                            + " that writing equal values again looks refused. Remove it from the JDBC URL");
        }
    }

    private static void requirePlainTable(SqlName table, ResultSet row) throws SQLException {
        String type = row.getString(1);
        if (!"BASE TABLE".equals(type) && !"SYSTEM VERSIONED".equals(type)) {
            throw new NotFenceableException(table + " is a " + type
                    + ", and only the token of a table's own rows can be trusted. Write to the table itself");
        }
        if (!"InnoDB".equalsIgnoreCase(row.getString(2))) {
            throw new NotFenceableException("Table " + table + " is stored by " + row.getString(2)
                    + ", which has no transactions. Run: ALTER TABLE " + table.quoted() + " ENGINE=InnoDB");
        }
        if ("ON".equalsIgnoreCase(row.getString(5))) {
            throw new NotFenceableException(
                    "This server is a node of a Galera cluster (wsrep_on), whose nodes do not wait"
                            + " for each other's row locks. Fences were not proven there and are refused");
        }
    }

    private static void requireTokenColumn(SqlName table, SqlName column, ResultSet row) throws SQLException {
        String type = row.getString(3);
        if (type == null) {
            throw Catalog.missing(FenceSchema.mariaDb(), table, column);
        }
        String modify = "ALTER TABLE " + table.quoted() + " MODIFY " + column.quoted() + " bigint NOT NULL DEFAULT 0;";
        if (!type.equalsIgnoreCase("bigint")) {
            throw Catalog.wrongType(table, column, type, modify);
        }
        if (!"NO".equals(row.getString(4))) {
            throw Catalog.nullable(table, column, modify);
        }
    }
}
