package io.ringfence.fencing.internal;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Asks the catalog, once for each table, whether it is a table and carries the token column, and whether the database has
 * guards. Any table counts: a write may cascade to it. Failures are asked again.
 */
final class TargetCheck {
    private static final int MAX_TABLES = 1_000;

    private final String column;
    private final Map<SqlName, Boolean> guarded = new ConcurrentHashMap<>();

    /** Creates a check that knows no table yet; the column is as SQL writes it. */
    TargetCheck(String column) {
        this.column = column;
    }

    /** Tells whether the database has guards. */
    boolean check(Connection connection, SqlName table) throws SQLException {
        Boolean known = guarded.get(table);
        return known == null ? recheck(connection, table) : known;
    }

    /** A guard refused because it was not told a token: it must be new. */
    void forget() {
        guarded.clear();
    }

    /** Asks again, whatever was known. */
    boolean recheck(Connection connection, SqlName table) throws SQLException {
        guarded.remove(table);
        Dialect dialect = table.dialect();
        boolean found = Catalog.of(dialect).require(connection, table, SqlName.parse(dialect, column, 1));
        if (guarded.size() >= MAX_TABLES) {
            guarded.clear();
        }
        guarded.put(table, found);
        return found;
    }
}
