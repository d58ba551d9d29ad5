package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.internal.FencedTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One transaction from its begin to its end, around the work of {@link ResourceFence#inTransaction}. */
final class SealedTransaction implements FencedTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceFence.class);

    private final FencingToken token;
    private final SealedCommit commit;
    private final Connection raw;
    private volatile @Nullable RuntimeException refusal;
    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    private volatile boolean ended;
    private boolean usable = true;

    SealedTransaction(FencingToken token, SealedCommit commit, Connection raw) {
        this.token = token;
        this.commit = commit;
        this.raw = raw;
    }

    <R extends @Nullable Object, X extends Exception> R run(ResourceFence.Work<R, X> work) throws X, SQLException {
        boolean autoCommit = raw.getAutoCommit();
        raw.setAutoCommit(false);
        try {
            R result = runWork(work);
            commit.run(refusal);
            return result;
        } finally {
            if (usable && commit.isUsable()) {
                restore(autoCommit);
            }
        }
    }

    private <R extends @Nullable Object, X extends Exception> R runWork(ResourceFence.Work<R, X> work)
            throws X, SQLException {
        try {
            commit.begin();
            R result = work.run(TransactionConnection.of(this, raw));
            end();
            return result;
        } catch (Throwable failure) {
            end();
            usable = Connections.rollback(raw, failure);
            throw failure;
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
        FencedTransaction.requireSame(token, presented);
    }

    @Override
    public void refuse(RuntimeException first) {
        if (refusal == null) {
            refusal = first;
        }
    }

    private void restore(boolean autoCommit) {
        try {
            raw.setAutoCommit(autoCommit);
        } catch (SQLException e) {
            // the outcome of the transaction stands, whatever happens to its connection
            LOG.atWarn().setCause(e).log("Auto-commit could not be restored");
        }
    }
}
