package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.SqlToken.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Splits PostgreSQL text, as given to JDBC, into tokens. It knows where strings, comments and names end and which brackets
 * belong together; what it is not sure about it refuses, because a wrong guess would let a part of a statement escape.
 */
final class SqlLexer {
    private static final String OPERATORS = "+-*/<>=~!@#%^&|`";

    private final String sql;
    private final List<SqlToken> tokens = new ArrayList<>();
    private final Deque<Character> brackets = new ArrayDeque<>();
    private int at;

    private SqlLexer(String sql) {
        this.sql = sql;
    }

    static List<SqlToken> tokens(String sql) {
        SqlLexer lexer = new SqlLexer(sql);
        while (lexer.skipBlanks()) {
            lexer.next();
        }
        if (!lexer.brackets.isEmpty()) {
            throw lexer.refusal("a bracket that is never closed", sql.length());
        }
        return List.copyOf(lexer.tokens);
    }

    /** Returns the first tokens only, and looks at nothing behind them. */
    static List<SqlToken> first(String sql, int count) {
        SqlLexer lexer = new SqlLexer(sql);
        while (lexer.tokens.size() < count && lexer.skipBlanks()) {
            lexer.next();
        }
        return lexer.tokens;
    }

    /** Returns where the first token starts, behind blanks and comments. */
    static int startOfText(String sql) {
        SqlLexer lexer = new SqlLexer(sql);
        lexer.skipBlanks();
        return lexer.at;
    }

    /** Moves to the next token; false at the end. */
    private boolean skipBlanks() {
        while (at < sql.length()) {
            if (" \t\r\n\f\u000b".indexOf(sql.charAt(at)) >= 0) {
                at++;
            } else if (sql.startsWith("--", at)) {
                skipLine();
            } else if (sql.startsWith("/*", at)) {
                skipBlock();
            } else {
                return true;
            }
        }
        return false;
    }

    private void skipLine() {
        while (at < sql.length() && sql.charAt(at) != '\n' && sql.charAt(at) != '\r') {
            at++;
        }
    }

    private void skipBlock() {
        int start = at;
        int open = 0;
        do {
            if (at >= sql.length()) {
                throw refusal("a comment that is never closed", start);
            }
            if (sql.startsWith("/*", at)) {
                open++;
                at += 2;
            } else if (sql.startsWith("*/", at)) {
                open--;
                at += 2;
            } else {
                at++;
            }
        } while (open > 0);
    }

    private void next() {
        char c = sql.charAt(at);
        if (SqlChars.isNameStart(c)) {
            word();
        } else if (SqlChars.isDigit(c) || (c == '.' && SqlChars.isDigit(charAt(at + 1)))) {
            number();
        } else if (c == '\'') {
            string(at, false);
        } else if (c == '"') {
            quotedName();
        } else if (c == '$') {
            dollarString();
        } else if (c == '?' && charAt(at + 1) != '?') {
            add(Kind.PARAMETER, "?", at, at + 1);
        } else if (c == '?' || OPERATORS.indexOf(c) >= 0) {
            operator();
        } else {
            punctuation(c);
        }
    }

    private void word() {
        int start = at;
        while (SqlChars.isNamePart(charAt(at))) {
            at++;
        }
        String text = SqlChars.foldCase(sql.substring(start, at));
        char follows = charAt(at);
        if (follows == '\'' && (text.equals("e") || text.equals("b") || text.equals("x") || text.equals("n"))) {
            string(start, text.equals("e"));
        } else if (text.equals("u") && follows == '&' && charAt(at + 1) == '\'') {
            at++;
            string(start, false);
        } else if (text.equals("u") && follows == '&' && charAt(at + 1) == '"') {
            throw refusal("a name written as U&\"..\" (write it as a plain quoted name)", start);
        } else {
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

    private void quotedName() {
        int start = at++;
        StringBuilder name = new StringBuilder();
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (c != '"') {
                name.append(c);
                at++;
            } else if (charAt(at + 1) == '"') {
                name.append('"');
                at += 2;
            } else {
                add(Kind.NAME, name.toString(), start, at + 1);
                return;
            }
        }
        throw refusal("a quoted name that is never closed", start);
    }

    private void dollarString() {
        int start = at++;
        if (!SqlChars.isDigit(charAt(at))) {
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
        while (at < sql.length() && !sql.startsWith("--", at) && !sql.startsWith("/*", at)) {
            if (sql.startsWith("??", at)) {
                signMayEndIt = true;
                at += 2;
            } else if (OPERATORS.indexOf(sql.charAt(at)) >= 0) {
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
