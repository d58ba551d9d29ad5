package io.ringfence.fencing.internal;

import io.ringfence.fencing.internal.SqlToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The parts of a predicate that are joined by AND at its top, and the simple ones among them that compare a key column
 * with a parameter or a literal.
 */
final class Conjuncts {
    private final List<List<SqlToken>> parts = new ArrayList<>();

    private Conjuncts() {}

    static Conjuncts of(List<SqlToken> predicate) {
        Conjuncts conjuncts = new Conjuncts();
        conjuncts.split(predicate);
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

    /** Returns where AND joins the parts; nowhere if an OR does. */
    private static List<Integer> topLevelAnds(List<SqlToken> tokens) {
        List<Integer> ands = new ArrayList<>();
        int cases = 0;
        boolean between = false;
        for (int i = 0; i < tokens.size(); i++) {
            SqlToken token = tokens.get(i);
            if (token.kind() != Kind.WORD || token.depth() > tokens.get(0).depth()) {
                continue;
            }
            switch (token.text()) {
                case "case" -> cases++;
                case "end" -> cases--;
                case "between" -> between |= cases == 0;
                case "or" -> {
                    if (cases == 0) {
                        return List.of();
                    }
                }
                case "and" -> {
                    if (cases == 0 && !between) {
                        ands.add(i);
                    }
                    between &= cases != 0;
                }
                default -> {}
            }
        }
        return ands;
    }

    /** Returns the tokens of every comparison with one of these columns; empty unless each column has one. */
    List<List<SqlToken>> keys(List<String> columns) {
        List<List<SqlToken>> found = new ArrayList<>();
        for (String column : columns) {
            int before = found.size();
            parts.stream().filter(part -> comparesWithValue(part, column)).forEach(found::add);
            if (found.size() == before) {
                return List.of();
            }
        }
        return found;
    }

    /** Tells whether the last part compares this column with a value. */
    boolean endIn(String column, String operator) {
        List<SqlToken> last = parts.get(parts.size() - 1);
        return last.size() > 2
                && last.get(0).isName()
                && last.get(0).text().equals(column)
                && last.get(1).isSymbol(operator)
                && isValue(last.subList(2, last.size()));
    }

    private static boolean comparesWithValue(List<SqlToken> part, String column) {
        for (int i = 0; i < part.size(); i++) {
            if (part.get(i).isSymbol("=")) {
                List<SqlToken> left = part.subList(0, i);
                List<SqlToken> right = part.subList(i + 1, part.size());
                return (isColumn(left, column) && isValue(right)) || (isValue(left) && isColumn(right, column));
            }
        }
        return false;
    }

    private static boolean isColumn(List<SqlToken> tokens, String column) {
        for (int i = 0; i < tokens.size(); i++) {
            if (i % 2 == 0 ? !tokens.get(i).isName() : !tokens.get(i).isSymbol(".")) {
                return false;
            }
        }
        return tokens.size() % 2 == 1 && tokens.get(tokens.size() - 1).text().equals(column);
    }

    /** Takes a parameter or a literal, with a simple cast or without. */
    private static boolean isValue(List<SqlToken> tokens) {
        if (tokens.isEmpty()) {
            return false;
        }
        boolean value = tokens.get(0).kind() == Kind.PARAMETER || tokens.get(0).kind() == Kind.LITERAL;
        boolean cast = tokens.size() == 4
                && tokens.get(1).isSymbol(":")
                && tokens.get(2).isSymbol(":")
                && tokens.get(3).isName();
        return value && (tokens.size() == 1 || cast);
    }

    /** Returns the parameter of a key comparison, if its value is one. */
    static Optional<SqlToken> parameter(List<SqlToken> comparison) {
        return comparison.stream()
                .filter(token -> token.kind() == Kind.PARAMETER)
                .findFirst();
    }
}
