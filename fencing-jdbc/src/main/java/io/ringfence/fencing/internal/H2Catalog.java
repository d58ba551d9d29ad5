package io.ringfence.fencing.internal;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.NotFenceableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** H2's catalog. Names are compared without case, because a setting of the database decides how they are folded. */
final class H2Catalog implements Catalog {
    private static final String QUERY = """
            SELECT t.TABLE_TYPE, t.STORAGE_TYPE, c.DATA_TYPE, c.IS_NULLABLE,
                   EXISTS (SELECT 1 FROM INFORMATION_SCHEMA.TRIGGERS i
                            WHERE i.EVENT_OBJECT_SCHEMA = t.TABLE_SCHEMA AND i.EVENT_OBJECT_TABLE = t.TABLE_NAME
                              AND i.ACTION_TIMING = 'INSTEAD OF'),
                   (SELECT s.SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS s WHERE s.SETTING_NAME = 'MODE')
              FROM INFORMATION_SCHEMA.TABLES t
              LEFT JOIN INFORMATION_SCHEMA.COLUMNS c
                ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
               AND UPPER(c.COLUMN_NAME) = UPPER(CAST(? AS VARCHAR))
             WHERE UPPER(t.TABLE_SCHEMA) = UPPER(COALESCE(CAST(? AS VARCHAR), SCHEMA()))
               AND UPPER(t.TABLE_NAME) = UPPER(CAST(? AS VARCHAR))
             ORDER BY t.TABLE_NAME = CAST(? AS VARCHAR) DESC""";

    @Override
    public boolean require(Connection connection, SqlName table, SqlName column) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, column.last());
            statement.setString(2, table.schema());
            statement.setString(3, table.last());
            statement.setString(4, table.last());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException(
                            "There is no table " + table + " in H2's current schema or the named one", "42S02");
                }
                requirePlainTable(table, row);
                requireTokenColumn(table, column, row);
            }
        }
        return false;
    }

    private static void requirePlainTable(SqlName table, ResultSet row) throws SQLException {
        if ("MSSQLServer".equals(row.getString(6))) {
            throw new NotFenceableException("H2's mode MSSQLServer reads brackets as names, which a fence does not."
                    + " Use another MODE for this database");
        }
        if (!"BASE TABLE".equals(row.getString(1)) || "TABLE LINK".equals(row.getString(2))) {
            throw new NotFenceableException(table + " is a " + row.getString(1) + " (" + row.getString(2)
                    + "), and only the token of a table's own rows can be trusted. Write to the table itself");
        }
        if (row.getBoolean(5)) {
            throw new NotFenceableException(
                    "Table " + table + " has an INSTEAD OF trigger, which may write something else"
                            + " than the statement says. Drop the trigger");
        }
    }

    private static void requireTokenColumn(SqlName table, SqlName column, ResultSet row) throws SQLException {
        String type = row.getString(3);
        if (type == null) {
            throw Catalog.missing(FenceSchema.h2(), table, column);
        }
        String alter = "ALTER TABLE " + table.quoted() + " ALTER COLUMN " + column.quoted();
        if (!type.equals("BIGINT")) {
            throw Catalog.wrongType(table, column, type, alter + " SET DATA TYPE bigint;");
        }
        if (!"NO".equals(row.getString(4))) {
            throw Catalog.nullable(table, column, alter + " SET DEFAULT 0;\n" + alter + " SET NOT NULL;");
        }
    }
}
