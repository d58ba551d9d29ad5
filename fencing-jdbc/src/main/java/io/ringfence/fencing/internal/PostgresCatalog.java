package io.ringfence.fencing.internal;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.NotFenceableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** PostgreSQL's catalog. */
final class PostgresCatalog implements Catalog {
    private static final String QUERY = """
            SELECT c.relkind, c.oid::pg_catalog.regclass::text,
                   EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.is_instead),
                   pg_catalog.format_type(a.atttypid, NULL), a.attnotnull, pg_catalog.version(),
                   {guarded}
              FROM pg_catalog.pg_class c
              LEFT JOIN pg_catalog.pg_attribute a
                ON a.attrelid = c.oid AND a.attname = ? AND a.attnum > 0 AND NOT a.attisdropped
             WHERE c.oid = CAST(? AS pg_catalog.regclass)""".replace("{guarded}", GuardNames.INSTALLED);

    @Override
    public boolean require(Connection connection, SqlName table, SqlName column) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, column.last());
            statement.setString(2, table.quoted());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException("The table " + table + " was dropped meanwhile", "42P01");
                }
                requirePlainTable(table, row);
                requireTokenColumn(table, column, row);
                return row.getBoolean(7);
            }
        }
    }

    private static void requirePlainTable(SqlName table, ResultSet row) throws SQLException {
        Postgres.requireVersion(row.getString(6));
        String kind = row.getString(1);
        if (!kind.equals("r") && !kind.equals("p")) {
            throw new NotFenceableException(table + " is " + kindName(kind)
                    + ", and only the token of a table's own rows can be trusted. Write to the table itself");
        }
        if (row.getBoolean(3)) {
            throw new NotFenceableException("Table " + table + " has a DO INSTEAD rule, which may write something else"
                    + " than the statement says. Drop the rule, or use ResourceFence.inTransaction");
        }
    }

    private static String kindName(String kind) {
        return switch (kind) {
            case "v" -> "a view";
            case "m" -> "a materialized view";
            case "f" -> "a foreign table";
            default -> "no table (pg_class.relkind " + kind + ")";
        };
    }

    private static void requireTokenColumn(SqlName table, SqlName column, ResultSet row) throws SQLException {
        SqlName found = SqlName.parse(row.getString(2), 2);
        String type = row.getString(4);
        if (type == null) {
            throw Catalog.missing(FenceSchema.postgres(), found, column);
        }
        String alter = "ALTER TABLE " + found.quoted() + " ALTER COLUMN " + column.quoted();
        if (!type.equals("bigint")) {
            throw Catalog.wrongType(table, column, type, alter + " TYPE bigint;");
        }
        if (!row.getBoolean(5)) {
            throw Catalog.nullable(
                    found, column, alter + " SET DEFAULT 0,\n    ALTER COLUMN " + column.quoted() + " SET NOT NULL;");
        }
    }
}
