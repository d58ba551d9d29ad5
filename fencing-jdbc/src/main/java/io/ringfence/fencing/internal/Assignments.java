package io.ringfence.fencing.internal;

import java.util.List;

/** Checks the SET list of an UPDATE: each target is understood, and none is the token column in any spelling. */
final class Assignments {
    private final String sql;
    private final List<SqlToken> tokens;
    private final String column;
    private int at;

    private Assignments(ParsedStatement statement, String column) {
        this.sql = statement.sql();
        this.tokens = statement.assignments();
        this.column = column;
    }

    static void check(ParsedStatement statement, String column) {
        Assignments list = new Assignments(statement, column);
        while (list.at < list.tokens.size()) {
            list.assignment();
        }
    }

    private void assignment() {
        int start = at;
        while (at < tokens.size()
                && !(tokens.get(at).depth() == 0 && tokens.get(at).isSymbol("="))) {
            at++;
        }
        if (at == tokens.size() || at == start) {
            throw Refusals.notFenceable(
                    sql, "an assignment without a target", tokens.get(start).start());
        }
        target(tokens.subList(start, at));
        at++;
        int value = at;
        while (at < tokens.size()
                && !(tokens.get(at).depth() == 0 && tokens.get(at).isSymbol(","))) {
            at++;
        }
        boolean comma = at < tokens.size();
        if (at == value || (comma && at == tokens.size() - 1)) {
            throw Refusals.notFenceable(
                    sql, "an assignment without a value", tokens.get(at - 1).end());
        }
        at += comma ? 1 : 0;
    }

    /** Takes {@code name}, {@code name.field}, {@code name[i]} or a bracketed list of these. */
    private void target(List<SqlToken> target) {
        SqlToken first = target.get(0);
        boolean row = first.isSymbol("(");
        if (!row && !first.isName()) {
            throw Refusals.notFenceable(sql, "an assignment that is not understood", first.start());
        }
        boolean expectName = true;
        int depth = row ? 1 : 0;
        for (SqlToken token : row ? target.subList(1, target.size() - 1) : target) {
            if (token.depth() == depth
                    && expectName
                    && token.isName()
                    && token.text().equals(column)) {
                throw Refusals.notFenceable(
                        sql, "an assignment to the token column, which the fence itself makes,", token.start());
            }
            expectName = token.depth() == depth && token.isSymbol(",");
        }
    }
}
