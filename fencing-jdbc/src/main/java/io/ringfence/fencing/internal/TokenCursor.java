package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Moves over the tokens of one statement. */
final class TokenCursor {
    private static final int MAX_NAME_PARTS = 3;

    /** These words are reserved, so outside of brackets they can only be the clause that they name. */
    static final Set<String> CLAUSES = Set.of(
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

    private final Dialect dialect;
    private final String sql;
    private final List<SqlToken> tokens;
    private int at;

    TokenCursor(Dialect dialect, String sql) {
        this.dialect = dialect;
        this.sql = sql;
        this.tokens = SqlLexer.tokens(dialect, sql);
    }

    Dialect dialect() {
        return dialect;
    }

    String sql() {
        return sql;
    }

    boolean isAtEnd() {
        return at >= tokens.size();
    }

    SqlToken peek() {
        return tokens.get(at);
    }

    void skip() {
        at++;
    }

    /** Returns where the next token starts. */
    int position() {
        return isAtEnd() ? sql.length() : tokens.get(at).start();
    }

    /** Returns where the last token that was taken ends. */
    int taken() {
        return at == 0 ? 0 : tokens.get(at - 1).end();
    }

    /** Returns the tokens that were taken since a position. */
    Clause since(int start) {
        List<SqlToken> taken = tokens.subList(0, at).stream()
                .filter(token -> token.start() >= start)
                .toList();
        return new Clause(start, taken(), taken);
    }

    boolean isNext(String keyword) {
        return !isAtEnd() && tokens.get(at).isWord(keyword);
    }

    boolean isNext(String keyword, String second) {
        return isNext(keyword) && at + 1 < tokens.size() && tokens.get(at + 1).isWord(second);
    }

    boolean accept(String keyword) {
        boolean found = isNext(keyword);
        at += found ? 1 : 0;
        return found;
    }

    /** Takes a word that may stand where a name is expected, such as the one behind AS. */
    boolean acceptName(String word) {
        boolean found = !isAtEnd()
                && tokens.get(at).isName()
                && sql.charAt(tokens.get(at).start()) != dialect.quote()
                && SqlChars.foldCase(tokens.get(at).text()).equals(word);
        at += found ? 1 : 0;
        return found;
    }

    boolean acceptSymbol(String symbol) {
        boolean found = !isAtEnd() && tokens.get(at).isSymbol(symbol);
        at += found ? 1 : 0;
        return found;
    }

    void expect(String keyword, String expected) {
        if (!accept(keyword)) {
            throw unexpected(expected);
        }
    }

    /** Takes a name of up to three parts. */
    SqlName tableName() {
        List<String> parts = new ArrayList<>();
        do {
            if (isAtEnd() || !tokens.get(at).isName() || parts.size() == MAX_NAME_PARTS) {
                throw unexpected("a table name of up to three parts");
            }
            parts.add(tokens.get(at++).text());
        } while (acceptSymbol("."));
        return new SqlName(dialect, List.copyOf(parts));
    }

    /** Takes one name. */
    String name(String expected) {
        if (isAtEnd() || !tokens.get(at).isName()) {
            throw unexpected(expected);
        }
        return tokens.get(at++).text();
    }

    /** Tells whether a name comes next that is not a clause or the word given. */
    boolean isNextName(String keyword) {
        return !isAtEnd()
                && tokens.get(at).isName()
                && !isNext(keyword)
                && !CLAUSES.contains(tokens.get(at).word());
    }

    /** Reads up to one of these words, a semicolon or the end; there must be something to read. */
    Clause clause(String name, Set<String> ends) {
        int start = taken();
        int first = at;
        while (!isAtEnd() && !endsClause(at, ends)) {
            at++;
        }
        if (first == at) {
            throw unexpected("something after " + name);
        }
        return new Clause(start, position(), tokens.subList(first, at));
    }

    private boolean endsClause(int index, Set<String> ends) {
        SqlToken token = tokens.get(index);
        if (token.depth() > 0) {
            return false;
        }
        return token.isSymbol(";") || (ends.contains(token.word()) && !isDistinctFrom(index));
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

    /** Takes a pair of brackets and returns what is between them. */
    List<SqlToken> brackets(String expected) {
        if (isAtEnd() || !tokens.get(at).isSymbol("(")) {
            throw unexpected(expected);
        }
        int open = at++;
        while (tokens.get(at).depth() > tokens.get(open).depth()) {
            at++;
        }
        return tokens.subList(open + 1, at++);
    }

    /** Splits at the commas that are in no further brackets. */
    List<List<SqlToken>> items(List<SqlToken> list) {
        List<List<SqlToken>> items = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= list.size(); i++) {
            boolean last = i == list.size();
            if (last
                    || (list.get(i).isSymbol(",")
                            && list.get(i).depth() == list.get(0).depth())) {
                if (i == start) {
                    int position = last ? taken() : list.get(i).start();
                    throw Refusals.notFenceable(sql, "an empty place in a list", position);
                }
                items.add(list.subList(start, i));
                start = i + 1;
            }
        }
        return items;
    }

    /** Takes the end of the statement and returns its tokens without semicolons. */
    List<SqlToken> end() {
        int end = at;
        while (acceptSymbol(";")) {
            // one statement may end in several
        }
        if (!isAtEnd()) {
            throw unexpected(at > end ? "one statement only" : "the end of the statement");
        }
        return tokens.subList(0, end);
    }

    NotFenceableException refusal(SqlToken found, String where) {
        String text = sql.substring(found.start(), found.end());
        return Refusals.notFenceable(sql, "'" + text + "' " + where, found.start());
    }

    NotFenceableException unexpected(String expected) {
        String found = isAtEnd()
                ? "the end"
                : "'" + sql.substring(position(), tokens.get(at).end()) + "'";
        return Refusals.notFenceable(sql, found + " instead of " + expected, position());
    }
}
