package io.ringfence.fencing.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An UPDATE, DELETE or INSERT that was understood, as positions in its text.
 *
 * @param sql the text
 * @param tokens all tokens, without closing semicolons
 * @param table the name of the target
 * @param target the target with ONLY and its alias
 * @param reference what other parts of the statement call the target: its alias, or else its name without a schema
 * @param with the WITH clause, the word included
 * @param set the list of an UPDATE, also that of ON CONFLICT DO UPDATE
 * @param from what FROM or USING adds
 * @param where the condition, also that of ON CONFLICT DO UPDATE
 * @param returning the RETURNING clause, the word included
 * @param insert the columns and values of an INSERT
 */
record ParsedStatement(
        String sql,
        List<SqlToken> tokens,
        SqlName table,
        Clause target,
        String reference,
        @Nullable Clause with,
        @Nullable Clause set,
        @Nullable Clause from,
        @Nullable Clause where,
        @Nullable Clause returning,
        @Nullable ParsedInsert insert) {

    Dialect dialect() {
        return table.dialect();
    }

    List<SqlToken> condition() {
        return where == null ? List.of() : where.tokens();
    }

    /** Tells whether the condition can speak of a second table. */
    boolean isJoined() {
        return from != null || insert != null;
    }

    int end() {
        return tokens.get(tokens.size() - 1).end();
    }

    String text(List<SqlToken> part) {
        return sql.substring(part.get(0).start(), part.get(part.size() - 1).end());
    }

    int parameters() {
        return parametersBefore(sql.length());
    }

    int parametersBefore(int position) {
        return (int) tokens.stream()
                .filter(token -> token.kind() == SqlToken.Kind.PARAMETER && token.start() < position)
                .count();
    }
}
