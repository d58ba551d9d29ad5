package io.ringfence.fencing;

import io.ringfence.fencing.internal.Postgres;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** The fence table where it was found, always addressed with its schema: a temporary table must not shadow it. */
final class FenceTable {
    private static final String LOCATE = """
            SELECT n.nspname, pg_catalog.version()
              FROM unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path (schema, place)
              JOIN pg_catalog.pg_namespace n ON n.nspname = path.schema
              JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
             WHERE c.relname = ? AND c.relkind = 'r' AND c.relpersistence = 'p'
             ORDER BY path.place LIMIT 1""";

    private final String name;

    private FenceTable(String schema) {
        this.name = new SqlName(List.of(schema, FenceSchema.FENCE_TABLE)).quoted();
    }

    static FenceTable locate(Connection connection) throws SQLException {
        Postgres.require(connection);
        try (PreparedStatement statement = connection.prepareStatement(LOCATE)) {
            statement.setString(1, FenceSchema.FENCE_TABLE);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    Postgres.requireVersion(row.getString(2));
                    return new FenceTable(row.getString(1));
                }
            }
        }
        throw new FenceSchemaException(
                "There is no table " + FenceSchema.FENCE_TABLE + " on the search_path of this DataSource's connections",
                FenceSchema.postgres().fenceTable());
    }

    /** Reads a fence row and, at the end of a transaction, locks it against being raised before the commit. */
    Optional<FenceRow> read(Connection connection, String resource, boolean lock) throws SQLException {
        String sql = "SELECT election, token, holder FROM " + name + " WHERE resource = ?" + (lock ? " FOR SHARE" : "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new FenceRow(row.getString(1), row.getLong(2), row.getString(3)))
                        : Optional.empty();
            }
        }
    }

    /** Writes a fence row if that does not lower its token and the election is the same; tells whether it did. */
    boolean raise(Connection connection, String resource, FenceRow raised) throws SQLException {
        String sql = "INSERT INTO " + name + " AS fence (resource, election, token, holder, raised_at)"
                + " VALUES (?, ?, ?, ?, clock_timestamp()) ON CONFLICT (resource) DO UPDATE"
                + " SET token = excluded.token, holder = excluded.holder, raised_at = excluded.raised_at"
                + " WHERE fence.token <= excluded.token AND fence.election = excluded.election";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            statement.setString(2, raised.election());
            statement.setLong(3, raised.token());
            statement.setString(4, raised.holder());
            return statement.executeUpdate() == 1;
        }
    }

    /** What a fence row says. */
    record FenceRow(String election, long token, String holder) {}
}
