package io.ringfence.fencing.internal;

import io.ringfence.fencing.internal.ParsedInsert.Conflict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognises what follows the word INSERT:
 *
 * <pre>
 * INTO name [AS alias] (columns) [OVERRIDING .. VALUE] VALUES (..) [, ..] | SELECT ..
 *     [ON CONFLICT [..] DO NOTHING | ON CONFLICT .. DO UPDATE SET .. [WHERE ..]] [RETURNING ..]
 * </pre>
 */
final class InsertParser {
    private static final Set<String> NOT_IN_SELECT = Set.of("union", "intersect", "except", "into");
    private static final Set<String> ENDS_OF_LIST = endsOfList();

    private final TokenCursor cursor;
    private final @Nullable Clause with;

    InsertParser(TokenCursor cursor, @Nullable Clause with) {
        this.cursor = cursor;
        this.with = with;
    }

    private static Set<String> endsOfList() {
        Set<String> ends = new HashSet<>(TokenCursor.CLAUSES);
        ends.add("on");
        return Set.copyOf(ends);
    }

    ParsedStatement statement() {
        cursor.expect("into", "INTO");
        int start = cursor.position();
        SqlName table = cursor.tableName();
        String alias = cursor.accept("as") ? cursor.name("an alias") : null;
        Clause target = cursor.since(start);
        List<List<SqlToken>> columns = cursor.items(cursor.brackets("the columns in brackets"));
        if (cursor.accept("overriding")) {
            if (!cursor.accept("system")) {
                cursor.expect("user", "SYSTEM or USER");
            }
            cursor.expect("value", "VALUE");
        }
        boolean select = cursor.isNext("select");
        List<List<List<SqlToken>>> rows = select ? List.of(select()) : values();
        boolean conflicting = cursor.accept("on");
        List<List<SqlToken>> conflictColumns = conflicting ? conflictTarget() : null;
        Conflict conflict = conflicting ? conflictAction() : Conflict.FAIL;
        Clause set = null;
        Clause where = null;
        if (conflict == Conflict.DO_UPDATE) {
            set = cursor.clause("SET", TokenCursor.CLAUSES);
            where = cursor.accept("where") ? StatementParser.condition(cursor) : null;
        }
        Clause returning = StatementParser.returning(cursor);
        return new ParsedStatement(
                cursor.sql(),
                cursor.end(),
                table,
                target,
                alias == null ? table.last() : alias,
                with,
                set,
                null,
                where,
                returning,
                new ParsedInsert(columns, rows, select, conflict, conflictColumns));
    }

    private List<List<List<SqlToken>>> values() {
        cursor.expect("values", "VALUES or SELECT");
        List<List<List<SqlToken>>> rows = new ArrayList<>();
        do {
            rows.add(cursor.items(cursor.brackets("a row in brackets")));
        } while (cursor.acceptSymbol(","));
        return rows;
    }

    /** Takes a SELECT and returns the items of its list. */
    private List<List<SqlToken>> select() {
        cursor.accept("select");
        List<SqlToken> list = cursor.clause("SELECT", ENDS_OF_LIST).tokens();
        if (list.get(0).isWord("distinct") || list.get(0).isWord("all")) {
            throw cursor.refusal(list.get(0), "in the SELECT of an INSERT");
        }
        while (!cursor.isAtEnd() && !endsSelect(cursor.peek())) {
            if (cursor.peek().depth() == 0
                    && NOT_IN_SELECT.contains(cursor.peek().word())) {
                throw cursor.refusal(cursor.peek(), "in the SELECT of an INSERT");
            }
            cursor.skip();
        }
        return cursor.items(list);
    }

    private boolean endsSelect(SqlToken token) {
        return token.depth() == 0
                && (token.isSymbol(";")
                        || token.isWord("returning")
                        || cursor.isNext("on", "conflict")
                        || (!cursor.dialect().hasJoinedWrites() && cursor.isNext("on", "duplicate")));
    }

    /** Takes what decides whether a row is there already; null if columns alone do not say it. */
    private @Nullable List<List<SqlToken>> conflictTarget() {
        if (!cursor.dialect().hasJoinedWrites()) {
            throw cursor.unexpected("the end (only PostgreSQL can fence a row that is there already: update first, and"
                    + " insert after a NoMatchingRowException)");
        }
        cursor.expect("conflict", "CONFLICT");
        if (cursor.accept("on")) {
            cursor.expect("constraint", "CONSTRAINT");
            cursor.name("the name of a constraint");
            return null;
        }
        if (cursor.isNext("do")) {
            return List.of();
        }
        List<List<SqlToken>> columns = cursor.items(cursor.brackets("the columns in brackets"));
        if (cursor.accept("where")) {
            cursor.clause("WHERE", Set.of("do"));
            return null;
        }
        return columns;
    }

    private Conflict conflictAction() {
        cursor.expect("do", "DO");
        if (cursor.accept("nothing")) {
            return Conflict.DO_NOTHING;
        }
        cursor.expect("update", "NOTHING or UPDATE");
        cursor.expect("set", "SET");
        return Conflict.DO_UPDATE;
    }
}
