package io.ringfence.fencing.internal;

import java.util.List;

/** MariaDB's ON DUPLICATE KEY UPDATE, whose every assignment has to look at the token itself, for it has no condition. */
final class DuplicateKey {
    private static final List<String> CLAUSE = List.of("on", "duplicate", "key", "update");

    private DuplicateKey() {}

    /** Returns where the clause starts; -1 if there is none. */
    static int find(String sql) {
        List<SqlToken> tokens = SqlLexer.tokens(Dialect.MARIADB, sql);
        for (int i = 0; i + CLAUSE.size() < tokens.size(); i++) {
            List<String> words = tokens.subList(i, i + CLAUSE.size()).stream()
                    .map(SqlToken::word)
                    .toList();
            if (tokens.get(i).depth() == 0 && words.equals(CLAUSE)) {
                return tokens.get(i).start();
            }
        }
        return -1;
    }

    /**
     * Checks that each assignment has the form {@code c = CASE WHEN .. AND token <= ? THEN .. ELSE c END}, the token's
     * last: MariaDB makes them from left to right.
     */
    static void check(String clause, ParsedStatement insert, String column) {
        List<SqlToken> tokens = SqlLexer.tokens(Dialect.MARIADB, clause);
        List<List<SqlToken>> assignments =
                new TokenCursor(Dialect.MARIADB, clause).items(tokens.subList(CLAUSE.size(), tokens.size()));
        ParsedInsert values = insert.insert();
        boolean fenced = values != null && !values.isSelect();
        for (int i = 0; i < assignments.size(); i++) {
            List<SqlToken> assignment = assignments.get(i);
            int equals = 0;
            while (equals < assignment.size() && !assignment.get(equals).isSymbol("=")) {
                equals++;
            }
            List<String> target = FencedText.name(assignment.subList(0, equals));
            boolean last = i == assignments.size() - 1;
            fenced &= !target.isEmpty()
                    && target.get(target.size() - 1).equalsIgnoreCase(column) == last
                    && isGuarded(assignment.subList(equals, assignment.size()), target, column);
        }
        if (!fenced) {
            throw Refusals.notFenceable(insert.sql() + clause, "an ON DUPLICATE KEY UPDATE without a fence", 0);
        }
    }

    private static boolean isGuarded(List<SqlToken> value, List<String> target, String column) {
        int then = -1;
        int otherwise = -1;
        int cases = 0;
        int whens = 0;
        for (int i = 0; i < value.size(); i++) {
            switch (value.get(i).depth() > 0 ? "" : value.get(i).word()) {
                case "case" -> cases++;
                case "end" -> cases--;
                case "when" -> whens += cases == 1 ? 1 : 0;
                case "then" -> then = cases == 1 && then < 0 ? i : then;
                case "else" -> otherwise = cases == 1 ? i : otherwise;
                default -> {}
            }
        }
        return value.size() > 5
                && value.get(1).isWord("case")
                && value.get(2).isWord("when")
                && value.get(value.size() - 1).isWord("end")
                && cases == 0
                && whens == 1
                && then > 3
                && otherwise > then
                && FencedText.name(value.subList(otherwise + 1, value.size() - 1))
                        .equals(target)
                && FencedText.isFence(
                        Conjuncts.of(Dialect.MARIADB, value.subList(3, then)).last(),
                        name -> isColumn(FencedText.name(name), column));
    }

    private static boolean isColumn(List<String> name, String column) {
        return !name.isEmpty() && name.get(name.size() - 1).equalsIgnoreCase(column);
    }
}
