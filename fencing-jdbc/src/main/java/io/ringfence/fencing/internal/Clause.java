package io.ringfence.fencing.internal;

import java.util.List;

/**
 * A stretch of a statement.
 *
 * @param start where its text starts, comments included
 * @param end where its text ends; a line comment may come last, so a line end has to follow
 * @param tokens its tokens
 */
record Clause(int start, int end, List<SqlToken> tokens) {

    int lastTokenEnd() {
        return tokens.get(tokens.size() - 1).end();
    }
}
