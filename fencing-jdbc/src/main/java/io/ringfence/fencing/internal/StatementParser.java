package io.ringfence.fencing.internal;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the closed grammar; everything else is refused. As they stand are fenced
 *
 * <pre>
 * UPDATE [ONLY] name [*] [[AS] alias] SET .. [WHERE ..] [RETURNING ..]
 * DELETE FROM [ONLY] name [*] [[AS] alias] [WHERE ..] [RETURNING ..]
 * </pre>
 *
 * and by {@linkplain Markers markers} also those with WITH, FROM and USING, and INSERT, see {@link InsertParser}.
 */
final class StatementParser {
    private static final Set<String> ENDS_OF_FROM = endsOfFrom();
    private static final Set<String> READS = Set.of("select", "values", "table", "with");
    private static final Set<String> WRITES = Set.of("insert", "update", "delete", "merge");

    private static final Set<String> MODIFIERS = Set.of("ignore", "low_priority", "quick");

    private final Dialect dialect;
    private final TokenCursor cursor;

    private StatementParser(Dialect dialect, String sql) {
        this.dialect = dialect;
        this.cursor = new TokenCursor(dialect, sql);
    }

    /** A join may have a USING of its own. */
    private static Set<String> endsOfFrom() {
        Set<String> ends = new HashSet<>(TokenCursor.CLAUSES);
        ends.remove("join");
        ends.remove("using");
        return Set.copyOf(ends);
    }

    static ParsedStatement parse(Dialect dialect, String sql) {
        return new StatementParser(dialect, sql).statement();
    }

    private ParsedStatement statement() {
        Clause with = cursor.isNext("with") ? with() : null;
        if (cursor.accept("insert")) {
            return new InsertParser(cursor, with).statement();
        }
        boolean update = cursor.accept("update");
        if (!update) {
            cursor.expect("delete", "UPDATE, DELETE or INSERT");
            cursor.expect("from", "FROM");
        }
        int start = cursor.position();
        if (dialect == Dialect.MARIADB
                && !cursor.isAtEnd()
                && MODIFIERS.contains(cursor.peek().word())) {
            throw cursor.refusal(cursor.peek(), "(a modifier)");
        }
        cursor.accept("only");
        SqlName table = cursor.tableName();
        cursor.acceptSymbol("*");
        String alias = alias(update ? "set" : "where");
        Clause target = cursor.since(start);
        Clause set = null;
        if (update) {
            cursor.expect("set", "SET");
            set = cursor.clause("SET", TokenCursor.CLAUSES);
        }
        Clause from = from(update ? "from" : "using");
        Clause where = cursor.accept("where") ? where() : null;
        Clause returning = returning(cursor);
        return new ParsedStatement(
                cursor.sql(),
                cursor.end(),
                table,
                target,
                alias == null ? table.last() : alias,
                with,
                set,
                from,
                where,
                returning,
                null);
    }

    /** Takes WITH and its queries, which may only read. */
    private Clause with() {
        int start = cursor.position();
        requireJoinedWrites("WITH");
        cursor.accept("with");
        cursor.accept("recursive");
        do {
            cursor.name("a name");
            if (!cursor.isNext("as")) {
                cursor.brackets("AS or a list of columns");
            }
            cursor.expect("as", "AS");
            cursor.acceptName("not");
            cursor.acceptName("materialized");
            List<SqlToken> query = cursor.brackets("a query in brackets");
            if (query.isEmpty() || !READS.contains(query.get(0).word())) {
                throw Refusals.notFenceable(cursor.sql(), "a query in WITH that may write", cursor.taken() - 1);
            }
            refuseWrites(query);
        } while (cursor.acceptSymbol(","));
        return cursor.since(start);
    }

    /** A write can only begin behind an opening bracket, or behind the closing one of a WITH. */
    private void refuseWrites(List<SqlToken> query) {
        for (int i = 1; i < query.size(); i++) {
            SqlToken previous = query.get(i - 1);
            if (WRITES.contains(query.get(i).word()) && (previous.isSymbol("(") || previous.isSymbol(")"))) {
                throw Refusals.notFenceable(
                        cursor.sql(),
                        "a query in WITH that may write",
                        query.get(i).start());
            }
        }
    }

    private @Nullable String alias(String nextClause) {
        if (cursor.accept("as")) {
            return cursor.name("an alias");
        }
        return cursor.isNextName(nextClause) ? cursor.name("an alias") : null;
    }

    private @Nullable Clause from(String keyword) {
        if (!cursor.isNext(keyword)) {
            return null;
        }
        requireJoinedWrites(keyword);
        cursor.accept(keyword);
        return cursor.clause(keyword, ENDS_OF_FROM);
    }

    private void requireJoinedWrites(String keyword) {
        if (!dialect.hasJoinedWrites()) {
            throw Refusals.notFenceable(
                    cursor.sql(), keyword + ", which is understood for PostgreSQL only,", cursor.position());
        }
    }

    private Clause where() {
        if (cursor.isNext("current", "of")) {
            throw cursor.unexpected("a condition");
        }
        return condition(cursor);
    }

    static Clause condition(TokenCursor cursor) {
        Clause condition = cursor.clause("WHERE", TokenCursor.CLAUSES);
        if (READS.contains(condition.tokens().get(0).word())) {
            throw cursor.refusal(condition.tokens().get(0), "without brackets in the condition");
        }
        for (SqlToken token : condition.tokens()) {
            if (token.depth() == 0 && token.isSymbol(",")) {
                throw Refusals.notFenceable(cursor.sql(), "a ',' in the condition", token.start());
            }
        }
        return condition;
    }

    static @Nullable Clause returning(TokenCursor cursor) {
        int start = cursor.position();
        if (!cursor.accept("returning")) {
            return null;
        }
        cursor.clause("RETURNING", TokenCursor.CLAUSES);
        return cursor.since(start);
    }
}
