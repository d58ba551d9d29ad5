package io.ringfence.fencing.internal;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FenceSchemaException;
import io.ringfence.fencing.NotFenceableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Asks the catalog, once for each table, whether it is a table and carries the token column. Failures are asked again. */
final class TargetCheck {
    private static final int MAX_TABLES = 1_000;
    private static final String QUERY = """
            SELECT c.relkind, c.oid::pg_catalog.regclass::text,
                   EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.is_instead),
                   pg_catalog.format_type(a.atttypid, NULL), a.attnotnull, pg_catalog.version()
              FROM pg_catalog.pg_class c
              LEFT JOIN pg_catalog.pg_attribute a
                ON a.attrelid = c.oid AND a.attname = ? AND a.attnum > 0 AND NOT a.attisdropped
             WHERE c.oid = CAST(? AS pg_catalog.regclass)""";

    private final String column;
    private final Set<SqlName> checked = ConcurrentHashMap.newKeySet();

    TargetCheck(String column) {
        this.column = column;
    }

    void check(Connection connection, SqlName table) throws SQLException {
        if (checked.contains(table)) {
            return;
        }
        Postgres.require(connection);
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, column);
            statement.setString(2, table.quoted());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException("The table " + table + " was dropped meanwhile", "42P01");
                }
                requirePlainTable(table, row);
                requireTokenColumn(table, row);
            }
        }
        if (checked.size() >= MAX_TABLES) {
            checked.clear();
        }
        checked.add(table);
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

    private void requireTokenColumn(SqlName table, ResultSet row) throws SQLException {
        SqlName name = SqlName.parse(row.getString(2), 2);
        String quotedColumn = new SqlName(List.of(column)).quoted();
        FenceSchema schema = FenceSchema.postgres();
        String type = row.getString(4);
        if (type == null) {
            throw new FenceSchemaException(
                    "Table " + table + " has no token column " + quotedColumn,
                    schema.tokenColumn(name.quoted(), quotedColumn));
        }
        String alter = "ALTER TABLE " + name.quoted() + " ALTER COLUMN " + quotedColumn;
        if (!type.equals("bigint")) {
            throw new FenceSchemaException(
                    "The token column " + quotedColumn + " of table " + table + " is of type " + type
                            + " and must be bigint",
                    alter + " TYPE bigint;");
        }
        if (!row.getBoolean(5)) {
            throw new FenceSchemaException(
                    "The token column " + quotedColumn + " of table " + table
                            + " may be NULL, and a row with NULL would refuse every leader for ever",
                    "UPDATE " + name.quoted() + " SET " + quotedColumn + " = 0 WHERE " + quotedColumn + " IS NULL;\n"
                            + alter + " SET DEFAULT 0,\n    ALTER COLUMN " + quotedColumn + " SET NOT NULL;");
        }
    }
}
