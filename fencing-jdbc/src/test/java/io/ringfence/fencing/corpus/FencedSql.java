package io.ringfence.fencing.corpus;

import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.RowColumns;
import io.ringfence.fencing.internal.SqlTemplate;
import java.util.ArrayList;
import java.util.List;

/**
 * A fenced text.
 *
 * @param sql the text
 * @param binds for each of its parameters the index of the caller's, or {@link #TOKEN}
 */
record FencedSql(String sql, List<Integer> binds) {
    static final int TOKEN = SqlTemplate.TOKEN;

    private static final RowColumns COLUMNS = RowColumns.of(Dialect.POSTGRES, "fencing_token", List.of("id"));

    /** Compiles a statement, or throws {@link io.ringfence.fencing.NotFenceableException}. */
    static FencedSql compile(String sql) {
        SqlTemplate fenced =
                FencedStatement.compile(Dialect.POSTGRES, sql, COLUMNS).fenced();
        return new FencedSql(fenced.sql(), fenced.binds());
    }

    /** Returns the caller's parameters, small numbers where there are too few, and the token in the order of the text. */
    List<String> values(List<String> parameters, long token) {
        List<String> values = new ArrayList<>();
        for (int index : binds) {
            String given = index < 0 || index >= parameters.size() ? String.valueOf(index + 1) : parameters.get(index);
            values.add(index == TOKEN ? String.valueOf(token) : given);
        }
        return values;
    }
}
