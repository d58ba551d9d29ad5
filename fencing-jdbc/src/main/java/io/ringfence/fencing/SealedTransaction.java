package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.Lease;
import io.ringfence.fencing.FenceTable.FenceRow;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.internal.FencedTransaction;
import io.ringfence.fencing.internal.Refusals;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transaction from its begin to its end: work, seal, COMMIT, and in every other case ROLLBACK.
 *
 * <p>The seal comes last. Taken first, its row lock would be held during the work, and a stream of transactions would
 * keep a raise waiting for ever. It is a statement of its own: at READ COMMITTED it sees every raise that committed before
 * it, and at the higher levels a raise since the snapshot fails it with 40001.
 */
final class SealedTransaction implements FencedTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceFence.class);

    private final String resource;
    private final FenceTable fence;
    private final FencingTokenSource source;
    private final FencingToken token;
    private final Connection raw;
    private volatile @Nullable RuntimeException refusal;
    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    private volatile boolean ended;

    SealedTransaction(
            String resource, FenceTable fence, FencingTokenSource source, FencingToken token, Connection raw) {
        this.resource = resource;
        this.fence = fence;
        this.source = source;
        this.token = token;
        this.raw = raw;
    }

    <R extends @Nullable Object, X extends Exception> R run(ResourceFence.Work<R, X> work) throws X, SQLException {
        if (raw.isReadOnly()) {
            throw new IllegalStateException("A read-only connection cannot be fenced, because the seal locks the fence"
                    + " row. Read on a connection of your own, or make this one writable");
        }
        boolean autoCommit = raw.getAutoCommit();
        raw.setAutoCommit(false);
        boolean usable = true;
        try {
            R result = work.run(TransactionConnection.of(this, raw));
            end();
            seal();
            commit();
            return result;
        } catch (Throwable failure) {
            end();
            if (failure instanceof SealRefusal refused) {
                usable = Connections.rollback(raw, refused.refusal);
                throw conclude(refused.refusal);
            }
            usable = Connections.rollback(raw, failure);
            throw failure;
        } finally {
            if (usable) {
                restore(autoCommit);
            }
        }
    }

    boolean isEnded() {
        return ended;
    }

    /** Held by every call of the work, so that none is under way between the seal and the next use of the connection. */
    Lock inUse() {
        return calls.readLock();
    }

    /** Waits for calls from other threads. */
    private void end() {
        calls.writeLock().lock();
        try {
            ended = true;
        } finally {
            calls.writeLock().unlock();
        }
    }

    @Override
    public void join(FencingToken presented) {
        if (!presented.equals(token)) {
            throw new IllegalStateException("This transaction runs with token " + token
                    + " and cannot write with token " + presented + ": one transaction, one token");
        }
    }

    @Override
    public void refuse(RuntimeException first) {
        if (refusal == null) {
            refusal = first;
        }
    }

    private void seal() throws SQLException {
        RuntimeException swallowed = refusal;
        if (swallowed != null) {
            throw swallowed;
        }
        Optional<FenceRow> found = fence.read(raw, resource, true);
        if (source instanceof Lease lease
                && found.isPresent()
                && !found.get().election().equals(lease.election())) {
            throw otherElection(resource, found.get(), lease);
        }
        if (found.isEmpty() || found.get().token() < token.value()) {
            Long observed = found.map(FenceRow::token).orElse(null);
            String state = observed == null ? "has no fence yet" : "is fenced at the lower token " + observed;
            throw new SealRefusal(new FencedOutException(
                    "The transaction with token " + token + " was rolled back: " + target() + " " + state
                            + ". Call raise(lease) once per term, before any work",
                    target(),
                    null,
                    token,
                    observed,
                    Reason.NOT_RAISED));
        }
        FenceRow row = found.get();
        if (row.token() > token.value()) {
            throw new SealRefusal(
                    superseded("The transaction with token " + token + " was rolled back", resource, token, row));
        }
    }

    private void commit() throws SQLException {
        try {
            raw.commit();
        } catch (SQLException e) {
            if (Connections.isLost(e)) {
                throw new CommitOutcomeUnknownException(resource, token, e);
            }
            throw e;
        }
    }

    /** Asks Consul only now, after the rollback, so that no lock is held meanwhile. */
    private RuntimeException conclude(FencedOutException refused) {
        RuntimeException conclusion = Refusals.confirmed(source, refused);
        Refusals.log(LOG, conclusion);
        return conclusion;
    }

    private void restore(boolean autoCommit) {
        try {
            raw.setAutoCommit(autoCommit);
        } catch (SQLException e) {
            // the outcome of the transaction stands, whatever happens to its connection
            LOG.atWarn().setCause(e).log("Auto-commit could not be restored");
        }
    }

    private String target() {
        return "resource '" + resource + "'";
    }

    static FencedOutException superseded(String what, String resource, FencingToken token, FenceRow row) {
        return new FencedOutException(
                what + ": resource '" + resource + "' is fenced at the higher token " + row.token() + " by "
                        + row.holder() + ". Another process leads: stop this term's work; do not retry with this token",
                "resource '" + resource + "'",
                null,
                token,
                row.token(),
                Reason.SUPERSEDED);
    }

    static FencingException otherElection(String resource, FenceRow row, Lease lease) {
        return new FencingException(
                "Resource '" + resource + "' is fenced by election '" + row.election() + "' (token " + row.token()
                        + "), and this lease is of election '" + lease.election() + "' (token " + lease.fencingToken()
                        + "). Tokens of two elections have no order: use one election, or another resource name",
                null);
    }

    /** Carries a refusal of the seal past the rollback, apart from one that the work itself throws. */
    private static final class SealRefusal extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final FencedOutException refusal;

        private SealRefusal(FencedOutException refusal) {
            super(refusal);
            this.refusal = refusal;
        }
    }
}
