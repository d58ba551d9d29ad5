package io.ringfence.fencing.internal;

/** The character classes of PostgreSQL's lexer. */
final class SqlChars {

    private SqlChars() {}

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    static boolean isHexLetter(char c) {
        return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }

    /** Leaves out the blanks of Unicode, which are part of a name to PostgreSQL and MariaDB, and end it to H2. */
    static boolean isNameStart(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 128 && !Character.isSpaceChar(c));
    }

    static boolean isNamePart(char c) {
        return isNameStart(c) || isDigit(c) || c == '$';
    }

    /** Folds as PostgreSQL does with UTF-8: ASCII letters only. */
    static String foldCase(String name) {
        StringBuilder folded = new StringBuilder(name);
        for (int i = 0; i < folded.length(); i++) {
            char c = folded.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                folded.setCharAt(i, (char) (c + ('a' - 'A')));
            }
        }
        return folded.toString();
    }
}
