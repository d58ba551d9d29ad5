package io.ringfence.fencing.internal;

import java.util.List;

/** Checks the SET list of an UPDATE: each target is understood, and none is the token column in any spelling. */
final class Assignments {
    private final String sql;
    private final List<SqlToken> tokens;
    private final String column;
    private int at;

    private Assignments(String sql, List<SqlToken> tokens, String column) {
        this.sql = sql;
        this.tokens = tokens;
        this.column = column;
    }

    /** Checks the list; a marker may come last. */
    static void check(String sql, Clause set, String column) {
        List<SqlToken> tokens = set.tokens();
        int last = tokens.size() - 1;
        if (tokens.get(last).isMarker("set")) {
            tokens = tokens.subList(0, last > 0 && tokens.get(last - 1).isSymbol(",") ? last - 1 : last);
        }
        Assignments list = new Assignments(sql, tokens, column);
        while (list.at < list.tokens.size()) {
            list.assignment();
        }
    }

    /** Checks a list that is fenced already: the last assignment, and no other one, is that of the token to a value. */
    static void checkFenced(String sql, Clause set, String column) {
        List<SqlToken> tokens = set.tokens();
        int last = tokens.size() - 1;
        while (last >= 0 && !(tokens.get(last).depth() == 0 && tokens.get(last).isSymbol(","))) {
            last--;
        }
        List<SqlToken> assignment = tokens.subList(last + 1, tokens.size());
        int equals = 0;
        while (equals < assignment.size() && !assignment.get(equals).isSymbol("=")) {
            equals++;
        }
        List<String> target = FencedText.name(assignment.subList(0, equals));
        if (target.isEmpty()
                || !target.get(target.size() - 1).equals(column)
                || !SqlValues.isValue(assignment.subList(equals + 1, assignment.size()))) {
            throw Refusals.notFenceable(sql, "no assignment of the token as the last one of SET", set.start());
        }
        Assignments list = new Assignments(sql, tokens.subList(0, Math.max(last, 0)), column);
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
                    && token.text().equalsIgnoreCase(column)) {
                throw Refusals.notFenceable(
                        sql, "an assignment to the token column, which the fence itself makes,", token.start());
            }
            expectName = token.depth() == depth && token.isSymbol(",");
        }
    }
}
