package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.SqlToken.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Splits SQL text, as given to JDBC, into tokens. It knows where strings, comments and names end and which brackets belong
 * together; what it is not sure about it refuses, because a wrong guess would let a part of a statement escape.
 */
final class SqlLexer {
    private final Dialect dialect;
    private final String sql;
    private final List<SqlToken> tokens = new ArrayList<>();
    private final Deque<Character> brackets = new ArrayDeque<>();
    private int at;

    private SqlLexer(Dialect dialect, String sql) {
        this.dialect = dialect;
        this.sql = sql;
    }

    static List<SqlToken> tokens(Dialect dialect, String sql) {
        SqlLexer lexer = new SqlLexer(dialect, sql);
        while (lexer.skipBlanks()) {
            lexer.next();
        }
        if (!lexer.brackets.isEmpty()) {
            throw lexer.refusal("a bracket that is never closed", sql.length());
        }
        return List.copyOf(lexer.tokens);
    }

    /** Returns the first tokens only, and looks at nothing behind them. */
    static List<SqlToken> first(Dialect dialect, String sql, int count) {
        SqlLexer lexer = new SqlLexer(dialect, sql);
        while (lexer.tokens.size() < count && lexer.skipBlanks()) {
            lexer.next();
        }
        return lexer.tokens;
    }

    /** Moves to the next token; false at the end. */
    private boolean skipBlanks() {
        at = SqlBlanks.skip(dialect, sql, at);
        return at < sql.length();
    }

    private void next() {
        char c = sql.charAt(at);
        if (SqlChars.isNameStart(c)) {
            word();
        } else if (SqlChars.isDigit(c) || (c == '.' && SqlChars.isDigit(charAt(at + 1)))) {
            number();
        } else if (c == '\'') {
            string(at, false);
        } else if (c == dialect.quote()) {
            quotedName(c);
        } else if (c == '$' && dialect != Dialect.MARIADB) {
            dollarString();
        } else if (c == '?') {
            question();
        } else if (dialect.isOperator(c)) {
            operator();
        } else if (c == '{') {
            marker();
        } else {
            punctuation(c);
        }
    }

    private void word() {
        int start = at;
        while (SqlChars.isNamePart(charAt(at))) {
            at++;
        }
        String word = SqlChars.foldCase(sql.substring(start, at));
        char follows = charAt(at);
        boolean escapes = word.equals("e") && dialect == Dialect.POSTGRES;
        if (follows == '\'' && (escapes || word.equals("b") || word.equals("x") || word.equals("n"))) {
            string(start, escapes);
        } else if (word.equals("u") && follows == '&' && charAt(at + 1) == '\'' && dialect != Dialect.MARIADB) {
            at++;
            string(start, false);
        } else if (word.equals("u") && follows == '&' && charAt(at + 1) == '"') {
            throw refusal("a name written as U&\"..\" (write it as a plain quoted name)", start);
        } else {
            String text = dialect.fold(sql.substring(start, at));
            add(isNameByPosition() ? Kind.NAME : Kind.WORD, text, start, at);
        }
    }

    private boolean isNameByPosition() {
        if (tokens.isEmpty()) {
            return false;
        }
        SqlToken previous = tokens.get(tokens.size() - 1);
        return previous.isSymbol(".") || previous.isWord("as");
    }

    private void number() {
        int start = at;
        if (sql.charAt(at) == '0' && "xXoObB".indexOf(charAt(at + 1)) >= 0) {
            at += 2;
            while (SqlChars.isDigit(charAt(at)) || SqlChars.isHexLetter(charAt(at)) || charAt(at) == '_') {
                at++;
            }
        } else {
            digits();
            if (charAt(at) == '.' && charAt(at + 1) != '.') {
                at++;
                digits();
            }
            int exponent = "+-".indexOf(charAt(at + 1)) >= 0 ? at + 2 : at + 1;
            if ((charAt(at) == 'e' || charAt(at) == 'E') && SqlChars.isDigit(charAt(exponent))) {
                at = exponent;
                digits();
            }
        }
        if (SqlChars.isNamePart(charAt(at))) {
            throw refusal("a number that runs into a word", start);
        }
        add(Kind.LITERAL, sql.substring(start, at), start, at);
    }

    private void digits() {
        while (SqlChars.isDigit(charAt(at)) || charAt(at) == '_') {
            at++;
        }
    }

    /** Reads a quoted string whose prefix, if any, starts at {@code start}; {@code at} is on the quote. */
    private void string(int start, boolean escapes) {
        int open = at++;
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (escapes && c == '\\') {
                at += 2;
            } else if (c != '\'') {
                at++;
            } else if (at > open + 1 && sql.charAt(at - 1) == '\\' && !escapes) {
                // whether this quote ends the string depends on a setting of the connection
                throw refusal("a backslash before a quote (write the string as E'..' or as a parameter)", at - 1);
            } else if (charAt(at + 1) == '\'') {
                at += 2;
            } else {
                add(Kind.LITERAL, sql.substring(start, at + 1), start, at + 1);
                return;
            }
        }
        throw refusal("a string that is never closed", start);
    }

    private void quotedName(char quote) {
        int start = at++;
        StringBuilder name = new StringBuilder();
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (c != quote) {
                name.append(c);
                at++;
            } else if (charAt(at + 1) == quote) {
                name.append(quote);
                at += 2;
            } else {
                add(Kind.NAME, name.toString(), start, at + 1);
                return;
            }
        }
        throw refusal("a quoted name that is never closed", start);
    }

    /** Reads a parameter; two question marks are the driver's way to write an operator of PostgreSQL. */
    private void question() {
        if (charAt(at + 1) != '?') {
            if (SqlChars.isDigit(charAt(at + 1))) {
                throw refusal("a numbered parameter (write ? and give the values in order)", at);
            }
            refuseTouching("a parameter", at, at + 1);
            add(Kind.PARAMETER, "?", at, at + 1);
        } else if (dialect == Dialect.POSTGRES) {
            operator();
        } else {
            throw refusal("two question marks in a row", at);
        }
    }

    private void marker() {
        int close = sql.indexOf('}', at);
        SqlMarker marker = close < 0 ? null : SqlMarker.parse(sql.substring(at + 1, close));
        if (marker == null) {
            throw refusal("a '{' that starts none of " + SqlMarker.ALL, at);
        }
        refuseTouching("a marker", at, close + 1);
        add(Kind.MARKER, marker.name(), at, close + 1);
    }

    /** What replaces it would run into the word: the driver writes ? as $1, and WHERE$1 is a name. */
    private void refuseTouching(String what, int start, int end) {
        if (SqlChars.isNamePart(charAt(end)) || (start > 0 && SqlChars.isNamePart(sql.charAt(start - 1)))) {
            throw refusal(what + " that touches a word (put a blank between)", start);
        }
    }

    private void dollarString() {
        int start = at++;
        if (dialect == Dialect.POSTGRES && !SqlChars.isDigit(charAt(at))) {
            while (SqlChars.isNamePart(charAt(at)) && charAt(at) != '$') {
                at++;
            }
        }
        if (charAt(at) != '$') {
            throw refusal("a $ that starts no string (parameters are written as ?)", start);
        }
        String quote = sql.substring(start, at + 1);
        int close = sql.indexOf(quote, at + 1);
        if (close < 0) {
            throw refusal("a string that is never closed", start);
        }
        add(Kind.LITERAL, sql.substring(start, close + quote.length()), start, close + quote.length());
    }

    private void operator() {
        int start = at;
        boolean signMayEndIt = false;
        while (at < sql.length() && !SqlBlanks.isComment(dialect, sql, at)) {
            if (sql.startsWith("??", at) && dialect == Dialect.POSTGRES) {
                signMayEndIt = true;
                at += 2;
            } else if (dialect.isOperator(sql.charAt(at))) {
                signMayEndIt |= "~!@#%^&|`".indexOf(sql.charAt(at)) >= 0;
                at++;
            } else {
                break;
            }
        }
        // PostgreSQL's rule: "=-" is two operators, "@-" is one
        while (!signMayEndIt && at - start > 1 && "+-".indexOf(sql.charAt(at - 1)) >= 0) {
            at--;
        }
        add(Kind.SYMBOL, sql.substring(start, at), start, at);
    }

    private void punctuation(char c) {
        if ("()[].,;:".indexOf(c) < 0) {
            throw refusal("the character '" + c + "'", at);
        }
        if ((c == '[' || c == ']') && dialect == Dialect.MARIADB) {
            throw refusal("a '" + c + "', which quotes names in one sql_mode", at);
        }
        if (c == ':' && charAt(at + 1) == '=' && dialect == Dialect.MARIADB) {
            throw refusal("an assignment", at);
        }
        if (c == ')' || c == ']') {
            char expected = c == ')' ? '(' : '[';
            if (brackets.isEmpty() || brackets.pop() != expected) {
                throw refusal("a '" + c + "' that closes nothing", at);
            }
        }
        add(Kind.SYMBOL, String.valueOf(c), at, at + 1);
        if (c == '(' || c == '[') {
            brackets.push(c);
        }
    }

    private void add(Kind kind, String text, int start, int end) {
        tokens.add(new SqlToken(kind, text, start, end, brackets.size()));
        at = end;
    }

    private NotFenceableException refusal(String found, int position) {
        return Refusals.notFenceable(sql, found, position);
    }

    private char charAt(int index) {
        return index < sql.length() ? sql.charAt(index) : '\0';
    }
}
