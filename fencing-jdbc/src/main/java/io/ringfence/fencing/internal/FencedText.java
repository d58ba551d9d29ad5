package io.ringfence.fencing.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * What was found in a text that something else than {@link FencedStatement} has fenced. It is held against the same
 * grammar, so that fragments of SQL that came into it cannot bring in a clause, another assignment of the token, or an OR
 * that escapes the fence.
 *
 * @param table the name of the target
 * @param isReturning whether it returns rows
 */
public record FencedText(SqlName table, boolean isReturning) {

    /**
     * Checks that a text writes to one table only behind a fence: the condition ends in AND and the comparison of the
     * target's token column with one value, the last assignment is that of the token, and an INSERT brings it in every row.
     *
     * @param dialect whose SQL it is
     * @param sql the fenced text
     * @param columns the columns of the fence
     * @return what was found
     * @throws io.ringfence.fencing.NotFenceableException if it does not
     */
    public static FencedText require(Dialect dialect, String sql, RowColumns columns) {
        String write = dialect == Dialect.H2 ? DeltaTable.written(sql) : sql;
        int duplicate = dialect == Dialect.MARIADB ? DuplicateKey.find(write) : -1;
        ParsedStatement parsed = FencedStatement.parse(dialect, duplicate < 0 ? write : write.substring(0, duplicate));
        FencedText text = new FencedText(parsed.table(), parsed.returning() != null || !write.equals(sql));
        Check check = new Check(parsed, columns.token().last());
        if (parsed.insert() != null) {
            check.insert(parsed.insert());
        }
        if (duplicate >= 0) {
            DuplicateKey.check(
                    write.substring(duplicate), parsed, columns.token().last());
        } else if (parsed.insert() == null || parsed.insert().conflict() == ParsedInsert.Conflict.DO_UPDATE) {
            check.written();
        }
        return text;
    }

    /** Tells whether these tokens are the comparison of a column with one value. */
    static boolean isFence(List<SqlToken> part, Predicate<List<SqlToken>> isColumn) {
        for (int i = 1; i < part.size(); i++) {
            if (part.get(i).isSymbol("<=")) {
                return isColumn.test(part.subList(0, i)) && SqlValues.isValue(part.subList(i + 1, part.size()));
            }
        }
        return false;
    }

    /** Returns the parts of a name; nothing if the tokens are something else. */
    static List<String> name(List<SqlToken> tokens) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < tokens.size(); i++) {
            if (i % 2 == 0 ? !tokens.get(i).isName() : !tokens.get(i).isSymbol(".")) {
                return List.of();
            }
            if (i % 2 == 0) {
                parts.add(tokens.get(i).text());
            }
        }
        return tokens.size() % 2 == 1 ? parts : List.of();
    }

    private record Check(ParsedStatement parsed, String column) {

        void written() {
            if (parsed.set() != null) {
                Assignments.checkFenced(parsed.sql(), parsed.set(), column);
            }
            List<SqlToken> last =
                    Conjuncts.of(parsed.dialect(), parsed.condition()).last();
            if (!isFence(last, this::isTokenOfTarget)) {
                throw Refusals.notFenceable(
                        parsed.sql(),
                        "a condition that the fence does not hold together (a fragment of plain SQL?)",
                        parsed.where() == null ? parsed.end() : parsed.where().start());
            }
        }

        private boolean isTokenOfTarget(List<SqlToken> tokens) {
            List<String> name = name(tokens);
            if (name.isEmpty() || !parsed.dialect().isSameColumn(name.get(name.size() - 1), column)) {
                return false;
            }
            List<String> qualifier = name.subList(0, name.size() - 1);
            List<String> table = parsed.table().parts();
            return qualifier.isEmpty()
                    ? !parsed.isJoined()
                    : qualifier.equals(List.of(parsed.reference()))
                            || (parsed.reference().equals(parsed.table().last())
                                    && qualifier.size() <= table.size()
                                    && qualifier.equals(table.subList(table.size() - qualifier.size(), table.size())));
        }

        void insert(ParsedInsert insert) {
            int position = -1;
            for (int i = 0; i < insert.columns().size(); i++) {
                List<String> name = name(insert.columns().get(i));
                if (!name.isEmpty() && name.get(name.size() - 1).equalsIgnoreCase(column)) {
                    position = position < 0 ? i : Integer.MAX_VALUE;
                }
            }
            for (List<List<SqlToken>> row : insert.rows()) {
                boolean star = insert.isSelect()
                        && row.stream()
                                .anyMatch(item -> item.get(item.size() - 1).isSymbol("*"));
                if (star
                        || position < 0
                        || position >= row.size()
                        || row.size() != insert.columns().size()
                        || !SqlValues.isValue(row.get(position))) {
                    throw Refusals.notFenceable(
                            parsed.sql(),
                            "an INSERT that does not bring the token in every row",
                            row.get(0).get(0).start());
                }
            }
        }
    }
}
