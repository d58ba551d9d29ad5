package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Finds the tables that a text writes to, in whatever part of it, without understanding the rest. It would rather find too
 * many than too few.
 */
public final class WrittenTables {
    private static final Set<String> VERBS = Set.of("update", "insert", "delete", "merge");
    private static final Set<String> STATEMENTS = Set.of("truncate", "replace", "copy");
    private static final Set<String> ENDS = Set.of("set", "where", "using", "values", "select", "returning", "on");

    private WrittenTables() {}

    /**
     * {@return the names behind the verbs that write} What follows {@code SELECT .. FOR UPDATE} is none.
     *
     * @param dialect whose SQL it is
     * @param sql one statement or several
     * @throws io.ringfence.fencing.NotFenceableException if the text cannot be read
     */
    public static List<SqlName> in(Dialect dialect, String sql) {
        List<SqlToken> tokens = SqlLexer.tokens(dialect, sql);
        List<SqlName> found = new ArrayList<>();
        for (int i = 0; i < tokens.size(); i++) {
            String word = tokens.get(i).word();
            boolean first = i == 0 || tokens.get(i - 1).isSymbol(";");
            if ((VERBS.contains(word) && !isLock(tokens, i)) || (first && STATEMENTS.contains(word))) {
                names(dialect, tokens, i + 1, found);
            }
        }
        return found;
    }

    /**
     * {@return whether a text is fenced by its own conditions, or is a MERGE that at least compares the token}
     *
     * @param dialect whose SQL it is
     * @param sql one statement
     * @param columns the columns of the fence
     */
    public static boolean areFenced(Dialect dialect, String sql, RowColumns columns) {
        List<SqlToken> tokens = SqlLexer.tokens(dialect, sql);
        if (tokens.isEmpty() || !tokens.get(0).isWord("merge")) {
            return isFenced(dialect, sql, columns);
        }
        for (int i = 1; i + 1 < tokens.size(); i++) {
            if (tokens.get(i).isSymbol("<=")
                    && tokens.get(i - 1).isName()
                    && tokens.get(i - 1).text().equals(columns.token().last())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFenced(Dialect dialect, String sql, RowColumns columns) {
        try {
            FencedText.require(dialect, sql, columns);
            return true;
        } catch (NotFenceableException e) {
            return false;
        }
    }

    /** FOR UPDATE and FOR NO KEY UPDATE lock, and the UPDATE of DO UPDATE, ON DUPLICATE KEY and WHEN is that of the verb before. */
    private static boolean isLock(List<SqlToken> tokens, int index) {
        return index > 0
                && Set.of("for", "key", "do", "then")
                        .contains(tokens.get(index - 1).word());
    }

    private static void names(Dialect dialect, List<SqlToken> tokens, int start, List<SqlName> found) {
        List<String> parts = new ArrayList<>();
        for (int i = start; i < tokens.size(); i++) {
            SqlToken token = tokens.get(i);
            if (ENDS.contains(token.word()) || token.isSymbol("(") || token.isSymbol(")") || token.isSymbol(";")) {
                break;
            }
            boolean continued = i > start && tokens.get(i - 1).isSymbol(".");
            if (token.isName()) {
                if (!continued && !parts.isEmpty()) {
                    found.add(new SqlName(dialect, List.copyOf(parts)));
                    parts.clear();
                }
                parts.add(token.text());
            }
        }
        if (!parts.isEmpty()) {
            found.add(new SqlName(dialect, List.copyOf(parts)));
        }
    }
}
