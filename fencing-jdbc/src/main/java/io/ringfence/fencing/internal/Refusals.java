package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NotFenceableException;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** Words and logs refusals, alike for rows and for resources. */
public final class Refusals {

    private Refusals() {}

    /**
     * Says why a statement is not fenced.
     *
     * @param sql the statement
     * @param found what was found in it
     * @param position where, counted from 0
     * @return the exception to throw
     */
    public static NotFenceableException notFenceable(String sql, String found, int position) {
        return new NotFenceableException("This statement cannot be fenced: found " + found + " at character "
                + (position + 1) + " of: " + sql
                + "\nWrite it as one plain UPDATE or DELETE of one table, or write the fence into"
                + " it by the markers that RowFence.update names, or run it in ResourceFence.inTransaction, which fences"
                + " whatever a transaction does");
    }

    /**
     * Looks behind a refusal by a higher token: if Consul confirms that the lease leads now, tokens went backwards.
     *
     * @param source where the token came from
     * @param refusal the refusal
     * @return what to throw: the refusal, or a {@link TokenRegressionException} with the refusal suppressed into it
     */
    public static RuntimeException confirmed(FencingTokenSource source, FencedOutException refusal) {
        if (refusal.reason() == Reason.SUPERSEDED
                && source instanceof Lease lease
                && lease.confirm() == Lease.Confirmation.CONFIRMED) {
            RuntimeException regression = new TokenRegressionException(
                    refusal.target(),
                    refusal.presented(),
                    new FencingToken(refusal.observed().orElseThrow()));
            regression.addSuppressed(refusal);
            return regression;
        }
        return refusal;
    }

    /**
     * Logs a refusal: WARN, and DEBUG for a row that is simply not there.
     *
     * @param logger where to
     * @param refusal a {@link FencedOutException} or another refusal of a fence
     */
    public static void log(Logger logger, RuntimeException refusal) {
        Level level = Level.WARN;
        if (refusal instanceof FencedOutException fenced) {
            level = fenced.reason() == Reason.NO_MATCHING_ROW ? Level.DEBUG : Level.WARN;
            logger.atLevel(level)
                    .addKeyValue("target", fenced.target())
                    .addKeyValue("key", fenced.key().orElse("unknown"))
                    .addKeyValue("reason", fenced.reason())
                    .addKeyValue("presented", fenced.presented())
                    .addKeyValue(
                            "observed",
                            fenced.observed().isPresent() ? fenced.observed().getAsLong() : "none")
                    .log("Fenced write refused");
        } else {
            logger.atLevel(level)
                    .addKeyValue("refusal", refusal.getClass().getSimpleName())
                    .log(refusal.getMessage());
        }
    }
}
