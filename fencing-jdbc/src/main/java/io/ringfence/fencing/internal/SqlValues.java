package io.ringfence.fencing.internal;

import io.ringfence.fencing.internal.SqlToken.Kind;
import java.util.List;

/** Expressions that are one value, whatever row they are compared with. */
final class SqlValues {

    private SqlValues() {}

    /** Takes a parameter, a literal or a signed number, with a simple cast or without. */
    static boolean isValue(List<SqlToken> tokens) {
        int size = tokens.size();
        if (size >= 6 && tokens.get(0).isWord("cast") && tokens.get(1).isSymbol("(")) {
            return isPlain(tokens.subList(2, size - 3))
                    && SqlChars.foldCase(tokens.get(size - 3).text()).equals("as")
                    && tokens.get(size - 2).isName();
        }
        if (size >= 4
                && tokens.get(size - 3).isSymbol(":")
                && tokens.get(size - 2).isSymbol(":")) {
            return isPlain(tokens.subList(0, size - 3)) && tokens.get(size - 1).isName();
        }
        return isPlain(tokens);
    }

    private static boolean isPlain(List<SqlToken> tokens) {
        boolean signed = tokens.size() == 2
                && (tokens.get(0).isSymbol("-") || tokens.get(0).isSymbol("+"));
        SqlToken value = tokens.isEmpty() ? null : tokens.get(tokens.size() - 1);
        return value != null
                && (tokens.size() == 1 || signed)
                && (value.kind() == Kind.PARAMETER || value.kind() == Kind.LITERAL);
    }
}
