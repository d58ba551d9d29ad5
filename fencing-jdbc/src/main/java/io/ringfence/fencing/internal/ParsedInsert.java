package io.ringfence.fencing.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an INSERT writes.
 *
 * @param columns the tokens of each column
 * @param rows the tokens of each value of each row; the items of its list if a SELECT supplies the rows
 * @param isSelect whether a SELECT supplies the rows
 * @param conflict what happens to a row that is there already
 * @param conflictColumns the columns that decide whether it is, each as its tokens; empty if all unique keys do, null if
 *     columns alone do not say it
 */
record ParsedInsert(
        List<List<SqlToken>> columns,
        List<List<List<SqlToken>>> rows,
        boolean isSelect,
        Conflict conflict,
        @Nullable List<List<SqlToken>> conflictColumns) {

    /** Tells whether a row is there already if, and only if, one has this key. */
    boolean conflictsBy(Dialect dialect, List<SqlName> key) {
        List<List<SqlToken>> target = conflictColumns;
        return target != null
                && target.size() == key.size()
                && key.stream().allMatch(column -> target.stream().anyMatch(name -> isColumn(dialect, name, column)));
    }

    boolean conflictsByAnyKey() {
        return conflictColumns != null && conflictColumns.isEmpty();
    }

    static boolean isColumn(Dialect dialect, List<SqlToken> name, SqlName column) {
        return name.size() == 1
                && name.get(0).isName()
                && dialect.isSameColumn(name.get(0).text(), column.last());
    }

    enum Conflict {
        FAIL,
        DO_NOTHING,
        DO_UPDATE
    }
}
