package io.ringfence.fencing.internal;

/**
 * One token of an SQL text, comments left out.
 *
 * @param text a word folded as the database does it, the decoded text of a quoted name, the lower-case name of a marker, else
 *     the text as written
 * @param start where it starts in the SQL
 * @param end where it ends, exclusive
 * @param depth how many brackets are open around it; a bracket counts as outside of itself
 */
record SqlToken(Kind kind, String text, int start, int end, int depth) {

    enum Kind {
        /** An unquoted word that may be a keyword. */
        WORD,
        /** A quoted name, or a word that follows {@code .} or {@code AS} and so is never a keyword. */
        NAME,
        /** A string in any of the quoting styles, or a number. */
        LITERAL,
        /** A JDBC parameter. */
        PARAMETER,
        /** A marker of ours, {@code {fence.where i}}. */
        MARKER,
        /** An operator, a bracket or a punctuation mark. */
        SYMBOL
    }

    boolean isWord(String keyword) {
        return kind == Kind.WORD && word().equals(keyword);
    }

    boolean isMarker(String name) {
        return kind == Kind.MARKER && text.equals(name);
    }

    /** Returns an unquoted word in lower case, else nothing. */
    String word() {
        return kind == Kind.WORD ? SqlChars.foldCase(text) : "";
    }

    boolean isSymbol(String symbol) {
        return kind == Kind.SYMBOL && text.equals(symbol);
    }

    /** Tells whether this can be a part of a name. */
    boolean isName() {
        return kind == Kind.WORD || kind == Kind.NAME;
    }
}
