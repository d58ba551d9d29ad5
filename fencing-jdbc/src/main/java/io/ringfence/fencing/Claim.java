package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import org.jspecify.annotations.Nullable;

/** Who comes to a fence with which token; a bare token has no election and no holder. */
record Claim(
        String resource,
        FencingToken token,
        @Nullable String election,
        @Nullable String holder) {

    static Claim of(String resource, FencingTokenSource source, FencingToken token) {
        return source instanceof Lease lease
                ? new Claim(resource, token, lease.election(), lease.holder())
                : new Claim(resource, token, null, null);
    }

    /** Returns the same claim on another resource. */
    Claim on(String other) {
        return new Claim(other, token, election, holder);
    }

    String target() {
        return "resource '" + resource + "'";
    }

    boolean isOfAnotherElection(FenceRow row) {
        return election != null && !election.equals(row.election());
    }
}
