package io.ringfence.fencing.corpus;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A piece of a statement, found in another way than the compiler finds its tokens.
 *
 * @param text the piece; for a parameter its value
 */
record Piece(Kind kind, String text) {
    enum Kind {
        BLANK,
        COMMENT,
        WORD,
        NAME,
        LITERAL,
        PARAMETER,
        MARKER,
        SYMBOL
    }

    private static final Pattern PIECE = Pattern.compile(
            "(?<BLANK>[ \t\r\n\f]+)|(?<COMMENT>--[^\r\n]*)|(?<MARKER>\\{[^}]*\\})|(?<NAME>\"(?:[^\"]|\"\")*\")"
                    + "|(?<LITERAL>[eE]'(?:[^'\\\\]|''|\\\\.)*'|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'"
                    + "|(?<quote>\\$(?:[a-z]\\w*)?\\$).*?\\k<quote>|\\.?[0-9][0-9a-zA-Z_.]*(?:(?<=[eE])[-+][0-9]+)?)"
                    + "|(?<WORD>[a-zA-Z_\\x{80}-\\x{10ffff}][\\w$\\x{80}-\\x{10ffff}]*)"
                    + "|(?<SYMBOL>::|:=|\\?\\?[|&]?|[-+*/<>=~!@#%^&|`]+?(?=--|/\\*)|[-+*/<>=~!@#%^&|`]+|[^?])|(?<PARAMETER>\\?)",
            Pattern.DOTALL);

    static List<Piece> of(CorpusStatement statement) {
        return of(statement.sql(), statement.parameters());
    }

    /** Takes a text apart; parameters without a value get small numbers. */
    static List<Piece> of(String sql, List<String> values) {
        List<Piece> pieces = new ArrayList<>();
        Matcher matcher = PIECE.matcher(sql);
        int parameters = 0;
        int at = 0;
        while (at < sql.length()) {
            if (sql.startsWith("/*", at)) {
                int end = endOfBlock(sql, at);
                pieces.add(new Piece(Kind.COMMENT, sql.substring(at, end)));
                at = end;
                continue;
            }
            if (!matcher.find(at) || matcher.start() != at) {
                throw new IllegalStateException("No piece at " + at + " of: " + sql);
            }
            Kind kind = kind(matcher);
            boolean parameter = kind == Kind.PARAMETER;
            pieces.add(new Piece(kind, parameter ? value(values, parameters) : sql.substring(at, matcher.end())));
            parameters += parameter ? 1 : 0;
            at = matcher.end();
        }
        return List.copyOf(pieces);
    }

    private static String value(List<String> values, int parameter) {
        return parameter < values.size() ? values.get(parameter) : String.valueOf(parameter + 1);
    }

    private static Kind kind(Matcher matcher) {
        for (Kind kind : Kind.values()) {
            if (matcher.group(kind.name()) != null) {
                return kind;
            }
        }
        throw new IllegalStateException();
    }

    private static int endOfBlock(String sql, int start) {
        int open = 0;
        int at = start;
        do {
            if (sql.startsWith("/*", at)) {
                open++;
                at += 2;
            } else if (sql.startsWith("*/", at)) {
                open--;
                at += 2;
            } else {
                at++;
            }
        } while (open > 0 && at < sql.length());
        return Math.min(at, sql.length());
    }

    /** Returns the statement for JDBC, markers included. */
    static String sql(List<Piece> pieces) {
        StringBuilder sql = new StringBuilder();
        pieces.forEach(piece -> sql.append(piece.kind == Kind.PARAMETER ? "?" : piece.text));
        return sql.toString();
    }

    /** Returns the statement as it would be without a fence, which writes the token but compares nothing. */
    static String plain(List<Piece> pieces, long token) {
        StringBuilder sql = new StringBuilder();
        for (Piece piece : pieces) {
            switch (piece.kind) {
                case PARAMETER -> sql.append('?');
                case MARKER -> sql.append(unfenced(piece.text.toLowerCase(Locale.ROOT), token));
                default -> sql.append(piece.text);
            }
        }
        return sql.toString();
    }

    private static String unfenced(String marker, long token) {
        if (marker.contains("fence.set")) {
            return "fencing_token = " + token;
        }
        if (marker.contains("fence.column")) {
            return "fencing_token";
        }
        return marker.contains("fence.token") ? String.valueOf(token) : "TRUE";
    }

    static List<String> parameters(List<Piece> pieces) {
        return pieces.stream()
                .filter(piece -> piece.kind == Kind.PARAMETER)
                .map(Piece::text)
                .toList();
    }

    boolean is(Kind kind) {
        return this.kind == kind;
    }

    boolean isWord(String word) {
        return kind == Kind.WORD && text.equalsIgnoreCase(word);
    }

    boolean isSymbol(String symbol) {
        return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isSpace() {
        return kind == Kind.BLANK || kind == Kind.COMMENT;
    }
}
