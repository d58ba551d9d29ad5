package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Recognises the closed grammar: {@code UPDATE [ONLY] name [*] [[AS] alias] SET .. [WHERE ..]} and
 * {@code DELETE FROM [ONLY] name [*] [[AS] alias] [WHERE ..]}. Everything else is refused.
 *
 * <p>The words below are reserved in PostgreSQL, so outside of brackets they can only be the clause that they name.
 */
final class StatementParser {
    private static final int MAX_NAME_PARTS = 3;
    private static final Set<String> CLAUSES = Set.of(
            "from",
            "using",
            "join",
            "returning",
            "order",
            "limit",
            "offset",
            "fetch",
            "group",
            "having",
            "window",
            "union",
            "intersect",
            "except",
            "into",
            "for",
            "select",
            "where");

    private final String sql;
    private final List<SqlToken> tokens;
    private int at;

    private StatementParser(String sql) {
        this.sql = sql;
        this.tokens = SqlLexer.tokens(sql);
    }

    static ParsedStatement parse(String sql) {
        return new StatementParser(sql).statement();
    }

    private ParsedStatement statement() {
        boolean update = accept("update");
        if (!update) {
            expect("delete", "UPDATE or DELETE");
            expect("from", "FROM");
        }
        int targetStart = at < tokens.size() ? tokens.get(at).start() : sql.length();
        accept("only");
        SqlName table = name();
        acceptSymbol("*");
        alias(update ? "set" : "where");
        int targetEnd = tokens.get(at - 1).end();
        List<SqlToken> assignments = List.of();
        if (update) {
            expect("set", "SET");
            assignments = clause("SET");
        }
        int where = -1;
        List<SqlToken> predicate = List.of();
        if (accept("where")) {
            where = tokens.get(at - 1).end();
            predicate = predicate();
        }
        int end = end();
        return new ParsedStatement(sql, table, targetStart, targetEnd, assignments, where, end, predicate);
    }

    private SqlName name() {
        List<String> parts = new ArrayList<>();
        do {
            if (at == tokens.size() || !tokens.get(at).isName() || parts.size() == MAX_NAME_PARTS) {
                throw unexpected("a table name of up to three parts");
            }
            parts.add(tokens.get(at++).text());
        } while (acceptSymbol("."));
        return new SqlName(parts);
    }

    private void alias(String nextClause) {
        if (accept("as")) {
            if (at == tokens.size() || !tokens.get(at).isName()) {
                throw unexpected("an alias");
            }
            at++;
        } else if (at < tokens.size() && tokens.get(at).isName() && !isClause(tokens.get(at), nextClause)) {
            at++;
        }
    }

    private static boolean isClause(SqlToken token, String nextClause) {
        return token.isWord(nextClause) || (token.kind() == SqlToken.Kind.WORD && CLAUSES.contains(token.text()));
    }

    private List<SqlToken> predicate() {
        if (at + 1 < tokens.size()
                && tokens.get(at).isWord("current")
                && tokens.get(at + 1).isWord("of")) {
            throw unexpected("a condition");
        }
        List<SqlToken> predicate = clause("WHERE");
        for (SqlToken token : predicate) {
            if (token.depth() == 0 && token.isSymbol(",")) {
                throw Refusals.notFenceable(sql, "a ',' in the condition", token.start());
            }
        }
        return predicate;
    }

    /** Reads up to the next clause or the end; there must be something to read. */
    private List<SqlToken> clause(String name) {
        int start = at;
        while (at < tokens.size() && !endsClause(at)) {
            at++;
        }
        if (start == at) {
            throw unexpected("something after " + name);
        }
        return tokens.subList(start, at);
    }

    private boolean endsClause(int index) {
        SqlToken token = tokens.get(index);
        if (token.depth() > 0) {
            return false;
        }
        boolean clause = token.kind() == SqlToken.Kind.WORD && CLAUSES.contains(token.text());
        return token.isSymbol(";") || (clause && !isDistinctFrom(index));
    }

    /** Tells whether the FROM at this index belongs to IS [NOT] DISTINCT FROM. */
    private boolean isDistinctFrom(int index) {
        return tokens.get(index).isWord("from")
                && word(index - 1, "distinct")
                && (word(index - 2, "is") || (word(index - 2, "not") && word(index - 3, "is")));
    }

    private boolean word(int index, String word) {
        return index >= 0 && tokens.get(index).isWord(word);
    }

    private int end() {
        int end = at < tokens.size() ? tokens.get(at).start() : sql.length();
        boolean closed = false;
        while (acceptSymbol(";")) {
            closed = true;
        }
        if (at < tokens.size()) {
            throw closed ? unexpected("one statement only") : unexpected("the end of the statement");
        }
        return end;
    }

    private boolean accept(String keyword) {
        boolean found = at < tokens.size() && tokens.get(at).isWord(keyword);
        at += found ? 1 : 0;
        return found;
    }

    private boolean acceptSymbol(String symbol) {
        boolean found = at < tokens.size() && tokens.get(at).isSymbol(symbol);
        at += found ? 1 : 0;
        return found;
    }

    private void expect(String keyword, String expected) {
        if (!accept(keyword)) {
            throw unexpected(expected);
        }
    }

    private NotFenceableException unexpected(String expected) {
        boolean ended = at >= tokens.size();
        int position = ended ? sql.length() : tokens.get(at).start();
        String found =
                ended ? "the end" : "'" + sql.substring(position, tokens.get(at).end()) + "'";
        return Refusals.notFenceable(sql, found + " instead of " + expected, position);
    }
}
