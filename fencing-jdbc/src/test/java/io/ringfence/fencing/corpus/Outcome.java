package io.ringfence.fencing.corpus;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * What a statement did to the rows.
 *
 * @param rejection why the server did not run it, or null
 * @param parameters how many parameters the driver found in it
 * @param kept how many old rows with a higher token are still as they were
 * @param foreignTokens how many rows were written without the token
 * @param written how many rows were written
 * @param old how many rows are still as they were
 * @param contents a sum over all rows and whether each was written, tokens left out; empty if nobody asked for it
 */
record Outcome(
        @Nullable String rejection,
        int parameters,
        int kept,
        int foreignTokens,
        int written,
        int old,
        String contents) {

    private static final String TIMED_OUT = "57014";

    static Outcome rejected(SQLException rejection) {
        return new Outcome(rejection.getSQLState() + " " + rejection.getMessage(), 0, 0, 0, 0, 0, "");
    }

    /** Tells whether the server gave up, which it may do at one time and not at another. */
    boolean timedOut() {
        return rejection != null && rejection.startsWith(TIMED_OUT);
    }

    boolean ran() {
        return rejection == null;
    }
}
