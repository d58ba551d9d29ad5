package io.ringfence.fencing.internal;

import io.ringfence.fencing.ExpectedRows;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The compiled statements of one fence. Thread-safe. */
public final class StatementCache {
    private static final int STATEMENTS = 500;

    private final String column;
    private final List<String> keys;
    private final Map<Dialect, BoundedCache<String, FencedStatement>> statements = new ConcurrentHashMap<>();

    /**
     * Creates an empty cache.
     *
     * @param column the token column, as SQL writes it
     * @param keys the columns of the key, as SQL writes them
     * @throws IllegalArgumentException if one of them is a name in no dialect
     */
    public StatementCache(String column, List<String> keys) {
        this.column = column;
        this.keys = keys;
        // names in backticks are MariaDB's
        Dialect quoting = (column + keys).indexOf('`') < 0 ? Dialect.POSTGRES : Dialect.MARIADB;
        RowColumns.of(quoting, column, keys);
    }

    private FencedStatement get(Dialect dialect, String sql) {
        BoundedCache<String, FencedStatement> known = statements.get(dialect);
        return (known == null ? statements.computeIfAbsent(dialect, this::cache) : known).get(sql);
    }

    /**
     * Compiles a statement that is to write so many rows, or remembers it.
     *
     * @param dialect whose SQL it is
     * @param sql the statement
     * @param expected how many rows it is to write
     * @return the compiled statement
     * @throws io.ringfence.fencing.NotFenceableException if it cannot be fenced, or its rows not be checked
     */
    public FencedStatement get(Dialect dialect, String sql, ExpectedRows expected) {
        FencedStatement statement = get(dialect, sql);
        if (expected.isOpen()) {
            statement.requireSkippedKnown();
        }
        return statement;
    }

    private BoundedCache<String, FencedStatement> cache(Dialect dialect) {
        RowColumns columns = RowColumns.of(dialect, column, keys);
        return new BoundedCache<>(STATEMENTS, sql -> FencedStatement.compile(dialect, sql, columns));
    }
}
