package io.ringfence.fencing;

import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.GuardNames;
import io.ringfence.fencing.internal.Postgres;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fence as it was found in a database: always addressed with its schema, which a temporary table cannot shadow, and by
 * the functions that the role may execute.
 */
record FenceLocation(Seal seal, Raising raising) {
    private static final String LOCATE = """
            SELECT n.nspname, pg_catalog.version(), f.seals, f.raises, {guarded}
              FROM pg_catalog.unnest(CASE WHEN ?::text IS NULL THEN pg_catalog.current_schemas(false)
                                          ELSE ARRAY[?::name] END) WITH ORDINALITY AS path (schema, place)
              JOIN pg_catalog.pg_namespace n ON n.nspname = path.schema
              JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
             CROSS JOIN LATERAL (
                    SELECT count(*) FILTER (WHERE p.proname = ? AND p.pronargs = 3) AS seals,
                           count(*) FILTER (WHERE p.proname = ? AND p.pronargs = 4) AS raises
                      FROM pg_catalog.pg_proc p
                     WHERE p.pronamespace = n.oid AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                       AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) f
             WHERE c.relname = ? AND c.relkind = 'r' AND c.relpersistence = 'p'
             ORDER BY path.place LIMIT 1""".replace("{guarded}", GuardNames.INSTALLED);

    /** Looks for the fence in a schema, or in those of the search path. */
    static FenceLocation find(Connection connection, @Nullable String schema, SealMode fastest) throws SQLException {
        Postgres.require(connection);
        try (PreparedStatement statement = connection.prepareStatement(LOCATE)) {
            statement.setString(1, schema);
            statement.setString(2, schema);
            statement.setString(3, FenceFunctions.SEAL);
            statement.setString(4, FenceFunctions.RAISE);
            statement.setString(5, FenceSchema.FENCE_TABLE);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    Postgres.requireVersion(row.getString(2));
                    String found = quoted(row.getString(1));
                    Seal seal = row.getBoolean(3) ? seal(connection, found, fastest) : new FenceTable(found);
                    return new FenceLocation(
                            row.getBoolean(5) ? new GuardedSeal(seal) : seal,
                            row.getBoolean(4) ? new RaiseFunction(found) : new FenceTable(found));
                }
            }
        }
        throw missing(schema);
    }

    private static Seal seal(Connection connection, String schema, SealMode fastest) {
        return switch (fastest) {
            case WITH_COMMIT ->
                SealWithCommit.worksOn(connection) ? new SealWithCommit(schema) : new SealFunction(schema);
            case SEPARATE -> new SealFunction(schema);
            case TABLE -> new FenceTable(schema);
        };
    }

    private static FenceSchemaException missing(@Nullable String schema) {
        FenceSchema ddl = FenceSchema.postgres();
        String table = "There is no table " + FenceSchema.FENCE_TABLE;
        return schema == null
                ? new FenceSchemaException(
                        table + " on the search_path of this DataSource's connections", ddl.fenceTable())
                : new FenceSchemaException(
                        table + " in schema " + schema,
                        ddl.inSchema(quoted(schema)).fenceTable());
    }

    /** Returns a name as it was found, fit for any SQL. */
    static String quoted(String schema) {
        return new SqlName(Dialect.POSTGRES, List.of(schema)).quoted();
    }
}
