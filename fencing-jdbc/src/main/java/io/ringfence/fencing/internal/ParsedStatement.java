package io.ringfence.fencing.internal;

import java.util.List;

/**
 * An UPDATE or DELETE of the closed grammar, as positions in its text.
 *
 * @param sql the text
 * @param table the name of the target
 * @param targetStart where the target starts, with ONLY
 * @param targetEnd where the target ends, with its alias
 * @param assignments the tokens of the SET list; empty for a DELETE
 * @param where where the word WHERE ends, or -1
 * @param predicateEnd where the predicate with its comments ends
 * @param predicate the tokens of the predicate, empty if there is none
 */
record ParsedStatement(
        String sql,
        SqlName table,
        int targetStart,
        int targetEnd,
        List<SqlToken> assignments,
        int where,
        int predicateEnd,
        List<SqlToken> predicate) {

    boolean isUpdate() {
        return !assignments.isEmpty();
    }

    String target() {
        return sql.substring(targetStart, targetEnd);
    }

    /** Returns the predicate with its comments; a line comment may come last, so a line end has to follow. */
    String predicateText() {
        return sql.substring(where, predicateEnd);
    }

    int setEnd() {
        return assignments.get(assignments.size() - 1).end();
    }

    static int parameters(List<SqlToken> tokens) {
        return (int) tokens.stream()
                .filter(token -> token.kind() == SqlToken.Kind.PARAMETER)
                .count();
    }
}
