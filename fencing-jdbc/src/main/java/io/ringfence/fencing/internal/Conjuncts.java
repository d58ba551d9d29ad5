package io.ringfence.fencing.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a predicate that are joined by AND at its top, and the simple ones among them that compare a key column
 * with a parameter or a literal.
 */
final class Conjuncts {
    private static final Set<String> QUERIES = Set.of("select", "values", "table", "union", "intersect", "except");

    private final Dialect dialect;
    private final List<List<SqlToken>> parts = new ArrayList<>();

    private Conjuncts(Dialect dialect) {
        this.dialect = dialect;
    }

    static Conjuncts of(Dialect dialect, List<SqlToken> predicate) {
        Conjuncts conjuncts = new Conjuncts(dialect);
        if (!predicate.isEmpty()) {
            conjuncts.split(predicate);
        }
        return conjuncts;
    }

    private void split(List<SqlToken> tokens) {
        if (isBracketed(tokens)) {
            split(tokens.subList(1, tokens.size() - 1));
            return;
        }
        List<Integer> ands = topLevelAnds(tokens);
        if (ands.isEmpty()) {
            parts.add(tokens);
            return;
        }
        int start = 0;
        for (int and : ands) {
            split(tokens.subList(start, and));
            start = and + 1;
        }
        split(tokens.subList(start, tokens.size()));
    }

    private static boolean isBracketed(List<SqlToken> tokens) {
        if (tokens.size() < 2 || !tokens.get(0).isSymbol("(")) {
            return false;
        }
        int depth = tokens.get(0).depth();
        return tokens.get(tokens.size() - 1).isSymbol(")")
                && tokens.subList(1, tokens.size() - 1).stream().allMatch(token -> token.depth() > depth);
    }

    /** Returns where AND joins the parts; nowhere if an OR does, or if CASE and END do not pair. */
    private List<Integer> topLevelAnds(List<SqlToken> tokens) {
        List<Integer> ands = new ArrayList<>();
        int cases = 0;
        boolean between = false;
        for (int i = 0; i < tokens.size(); i++) {
            SqlToken token = tokens.get(i);
            if (token.depth() > tokens.get(0).depth()) {
                continue;
            }
            switch (token.word()) {
                case "case" -> cases++;
                case "end" -> cases--;
                case "between" -> between |= cases == 0;
                case "and" -> {
                    if (cases == 0 && !between) {
                        ands.add(i);
                    }
                    between &= cases != 0;
                }
                default -> {
                    if (cases == 0 && bindsLooser(token)) {
                        return List.of();
                    }
                }
            }
            // the WHERE of a query in brackets is not ours
            if (cases < 0 || QUERIES.contains(token.word())) {
                return List.of();
            }
        }
        return cases == 0 ? ands : List.of();
    }

    /** Tells whether an operator takes in the ANDs around it. */
    private boolean bindsLooser(SqlToken token) {
        return token.isWord("or")
                || (dialect == Dialect.MARIADB
                        && (token.isWord("xor") || token.isSymbol("||") || token.isSymbol("&&")));
    }

    /** Tells whether this token is one of the parts, by itself. */
    boolean contain(SqlToken alone) {
        return parts.stream().anyMatch(part -> part.size() == 1 && part.get(0).equals(alone));
    }

    /** Tells whether there is nothing else than this token. */
    boolean areOnly(SqlToken alone) {
        return parts.size() == 1 && contain(alone);
    }

    /**
     * Returns the tokens of every comparison with one of these columns; empty unless each column has one.
     *
     * @param qualifier what must stand before the column's name, or null if nothing needs to
     */
    List<List<SqlToken>> keys(List<SqlName> columns, @Nullable String qualifier) {
        List<List<SqlToken>> found = new ArrayList<>();
        for (SqlName column : columns) {
            int before = found.size();
            parts.stream()
                    .filter(part -> comparesWithValue(part, column.last(), qualifier))
                    .forEach(found::add);
            if (found.size() == before) {
                return List.of();
            }
        }
        return found;
    }

    /** Returns the tokens of the last part; nothing if there is no condition. */
    List<SqlToken> last() {
        return parts.isEmpty() ? List.of() : parts.get(parts.size() - 1);
    }

    private boolean comparesWithValue(List<SqlToken> part, String column, @Nullable String qualifier) {
        for (int i = 0; i < part.size(); i++) {
            if (part.get(i).isSymbol("=")) {
                List<SqlToken> left = part.subList(0, i);
                List<SqlToken> right = part.subList(i + 1, part.size());
                return (isColumn(left, column, qualifier) && SqlValues.isValue(right))
                        || (SqlValues.isValue(left) && isColumn(right, column, qualifier));
            }
        }
        return false;
    }

    private boolean isColumn(List<SqlToken> tokens, String column, @Nullable String qualifier) {
        for (int i = 0; i < tokens.size(); i++) {
            if (i % 2 == 0 ? !tokens.get(i).isName() : !tokens.get(i).isSymbol(".")) {
                return false;
            }
        }
        return tokens.size() % 2 == 1
                && dialect.isSameColumn(tokens.get(tokens.size() - 1).text(), column)
                && (qualifier == null
                        || (tokens.size() == 3 && tokens.get(0).text().equals(qualifier)));
    }
}
