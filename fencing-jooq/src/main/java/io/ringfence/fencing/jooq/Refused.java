package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;

/** Words why a query of jOOQ is not fenced, and what to write instead. */
final class Refused {
    private static final String ELSE =
            "; or run it in a transaction of SealedTransactions, which fences whatever a transaction does";

    private Refused() {}

    static NotFenceableException query(Object query, String why, String remedy) {
        return new NotFenceableException(
                "This query cannot be fenced: " + why + ": " + query + "\n" + remedy + ELSE + ". Nothing was run");
    }

    /** Says for jOOQ what the check of the rendered text found. */
    static NotFenceableException text(NotFenceableException found) {
        String message = String.valueOf(found.getMessage());
        int end = message.lastIndexOf('\n');
        NotFenceableException refusal = new NotFenceableException((end < 0 ? message : message.substring(0, end))
                + "\nThis is what jOOQ rendered. Write it as an UPDATE, DELETE or INSERT of one table without"
                + " fragments of plain SQL that change its shape; or put JooqFence.condition and"
                + " JooqFence.assignment into it and check its count yourself" + ELSE + ". Nothing was run");
        refusal.addSuppressed(found);
        return refusal;
    }
}
