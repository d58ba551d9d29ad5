package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.ParsedInsert.Conflict;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the markers of a statement fence it: each that it needs is there, each stands where it takes effect, and
 * none stands elsewhere.
 */
final class Markers {
    private final ParsedStatement statement;
    private final String column;
    private final List<SqlToken> placed = new ArrayList<>();

    private Markers(ParsedStatement statement, RowColumns columns) {
        this.statement = statement;
        this.column = columns.token().last();
    }

    static boolean areIn(ParsedStatement statement) {
        return statement.tokens().stream().anyMatch(token -> token.kind() == SqlToken.Kind.MARKER);
    }

    static void check(ParsedStatement statement, RowColumns columns) {
        Markers markers = new Markers(statement, columns);
        ParsedInsert insert = statement.insert();
        if (insert != null) {
            markers.insert(insert);
        }
        if (insert == null || insert.conflict() == Conflict.DO_UPDATE) {
            if (statement.set() != null) {
                markers.set(statement.set());
            }
            markers.where();
        }
        for (SqlToken token : statement.tokens()) {
            if (token.kind() == SqlToken.Kind.MARKER && !markers.placed.contains(token)) {
                throw markers.refusal("a marker where it does not fence the statement,", token.start());
            }
        }
    }

    /** Returns the alias in a marker, as it is written. */
    static @Nullable String alias(ParsedStatement statement, SqlToken token) {
        SqlMarker marker = SqlMarker.parse(statement.sql().substring(token.start() + 1, token.end() - 1));
        return marker == null ? null : marker.alias();
    }

    private void set(Clause set) {
        List<SqlToken> tokens = set.tokens();
        SqlToken last = tokens.get(tokens.size() - 1);
        boolean alone = tokens.size() == 1 || tokens.get(tokens.size() - 2).isSymbol(",");
        if (!last.isMarker("set") || last.depth() != 0 || !alone) {
            throw refusal("no {fence.set} as the last assignment of SET", set.lastTokenEnd());
        }
        placed.add(last);
    }

    private void where() {
        List<SqlToken> condition = statement.condition();
        Conjuncts conjuncts = Conjuncts.of(statement.dialect(), condition);
        boolean found = false;
        for (SqlToken token : condition) {
            if (token.isMarker("where") && conjuncts.contain(token)) {
                requireTarget(token);
                placed.add(token);
                found = true;
            }
        }
        if (!found) {
            throw refusal(
                    "no {fence.where} that AND joins to the rest of the WHERE at its top (put brackets around an OR)",
                    statement.where() == null
                            ? statement.end()
                            : statement.where().start());
        }
    }

    private void requireTarget(SqlToken token) {
        String alias = alias(statement, token);
        if (alias == null) {
            if (statement.isJoined()) {
                throw refusal(
                        "{fence.where} without an alias beside a second table (write {fence.where "
                                + statement.reference() + "})",
                        token.start());
            }
            return;
        }
        if (!name(alias, token).equals(statement.reference())) {
            throw refusal(
                    "a {fence.where} that is not about the table written to (write {fence.where "
                            + statement.reference() + "})",
                    token.start());
        }
    }

    private String name(String alias, SqlToken token) {
        try {
            return SqlName.parse(statement.dialect(), alias, 1).last();
        } catch (IllegalArgumentException e) {
            throw refusal("a {fence.where} whose alias is no name", token.start());
        }
    }

    private void insert(ParsedInsert insert) {
        int position = -1;
        for (int i = 0; i < insert.columns().size(); i++) {
            List<SqlToken> item = insert.columns().get(i);
            if (item.get(0).isMarker("column") && item.size() == 1 && position < 0) {
                position = i;
                placed.add(item.get(0));
            } else if (item.get(0).isName() && item.get(0).text().equalsIgnoreCase(column)) {
                throw refusal(
                        "the token column itself among the columns (write {fence.column} and {fence.token} instead)",
                        item.get(0).start());
            }
        }
        if (position < 0) {
            throw refusal(
                    "an INSERT without {fence.column} among its columns and {fence.token} among its values",
                    insert.columns().get(0).get(0).start());
        }
        for (List<List<SqlToken>> row : insert.rows()) {
            value(insert, row, position);
        }
    }

    private void value(ParsedInsert insert, List<List<SqlToken>> row, int position) {
        boolean star = insert.isSelect()
                && row.stream().anyMatch(item -> item.get(item.size() - 1).isSymbol("*"));
        SqlToken value = row.size() <= position ? null : row.get(position).get(0);
        boolean alone =
                value != null && value.isMarker("token") && row.get(position).size() == 1;
        if (star || row.size() != insert.columns().size() || !alone) {
            throw refusal(
                    "values that do not match the columns, with {fence.token} at the place of {fence.column}",
                    row.get(0).get(0).start());
        }
        placed.add(row.get(position).get(0));
    }

    private NotFenceableException refusal(String found, int position) {
        return Refusals.notFenceable(statement.sql(), found, position);
    }
}
