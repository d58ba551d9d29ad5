package io.ringfence.fencing;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.internal.Refusals;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a transaction that may have written: seal and COMMIT, and in every other case ROLLBACK.
 *
 * <p>The seal comes last. Taken first, its row lock would be held during the work, and a stream of transactions would
 * keep a raise waiting for ever. It is a statement of its own, if not a message: at READ COMMITTED it sees every raise that
 * committed before it, and at the higher levels a raise since the snapshot fails it with 40001.
 */
final class SealedCommit {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceFence.class);

    private final Seal seal;
    private final FencingTokenSource source;
    private final List<Claim> claims;
    private final Connection raw;
    private boolean usable = true;

    SealedCommit(Seal seal, FencingTokenSource source, List<Claim> claims, Connection raw) {
        this.seal = seal;
        this.source = source;
        this.claims = claims;
        this.raw = raw;
    }

    /** Says to the server what the transaction needs to say before its first statement. */
    void begin() throws SQLException {
        seal.begin(raw, claims.get(0));
    }

    /**
     * Returns if the transaction is committed. Whatever this throws, it is rolled back, or its outcome is unknown.
     *
     * @param earlier a refusal that came before, and counts whatever was done about it
     */
    void run(@Nullable RuntimeException earlier) throws SQLException {
        RuntimeException refusal;
        try {
            if (earlier != null) {
                throw earlier;
            }
            refusal = sealAndCommit();
        } catch (Throwable failure) {
            usable = Connections.rollback(raw, failure);
            throw failure;
        }
        if (refusal != null) {
            usable = Connections.rollback(raw, refusal);
            throw conclude(refusal);
        }
    }

    /** Tells whether the connection is still good. */
    boolean isUsable() {
        return usable;
    }

    /** Returns why the transaction must not be committed, if that is so. */
    private @Nullable RuntimeException sealAndCommit() throws SQLException {
        Verdict verdict = seal.seal(raw, claims);
        if (verdict.refusal() != null) {
            return verdict.refusal();
        }
        if (verdict.committed()) {
            tellCommitted();
            return null;
        }
        return commit();
    }

    private @Nullable RuntimeException commit() throws SQLException {
        try {
            raw.commit();
            return null;
        } catch (SQLException e) {
            if (Connections.isLost(e)) {
                throw CommitOutcomeUnknownException.of(claims, e);
            }
            Optional<RuntimeException> refused = FenceRefusal.ofCommit(e, claims);
            return refused.orElseThrow(() -> e);
        }
    }

    /** Calls commit although nothing is left of it: pools and tracers around the driver wait for that. */
    private void tellCommitted() {
        try {
            raw.commit();
        } catch (SQLException | RuntimeException e) {
            LOG.atWarn().setCause(e).log("The connection of a committed transaction failed afterwards");
        }
    }

    /** Asks Consul only now, after the rollback, so that no lock is held meanwhile. */
    private RuntimeException conclude(RuntimeException refused) {
        RuntimeException conclusion =
                refused instanceof FencedOutException fenced ? Refusals.confirmed(source, fenced) : refused;
        Refusals.log(LOG, conclusion);
        return conclusion;
    }
}
