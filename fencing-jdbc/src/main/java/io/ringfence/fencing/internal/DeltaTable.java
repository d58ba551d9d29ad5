package io.ringfence.fencing.internal;

import java.util.List;
import java.util.Set;

/** H2's way to return what a write did: SELECT .. FROM FINAL TABLE (UPDATE ..). */
final class DeltaTable {
    private static final Set<String> KINDS = Set.of("old", "new", "final");

    private DeltaTable() {}

    /** Tells whether a delta table begins at this place. */
    static boolean isAt(List<SqlToken> tokens, int index) {
        return index > 0
                && index + 1 < tokens.size()
                && tokens.get(index).isWord("table")
                && tokens.get(index + 1).isSymbol("(")
                && KINDS.contains(tokens.get(index - 1).word());
    }

    /** Returns the write inside of a SELECT from one delta table; any other text as it is. */
    static String written(String sql) {
        List<SqlToken> tokens = SqlLexer.tokens(Dialect.H2, sql);
        int open = -1;
        for (int i = 1; i < tokens.size(); i++) {
            if (isAt(tokens, i)) {
                if (open >= 0) {
                    return sql;
                }
                open = i + 1;
            }
        }
        if (open < 0 || tokens.get(open).depth() > 0 || !tokens.get(0).isWord("select")) {
            return sql;
        }
        int close = open + 1;
        while (tokens.get(close).depth() > 0) {
            close++;
        }
        return sql.substring(tokens.get(open).end(), tokens.get(close).start());
    }
}
