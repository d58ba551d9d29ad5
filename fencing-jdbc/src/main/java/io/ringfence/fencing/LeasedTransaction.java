package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The transaction that is open on a fenced connection: its lease, taken when it began, and why it must not be committed. */
final class LeasedTransaction {
    /** SQLSTATE of a write in a read-only transaction. */
    private static final String READ_ONLY = "25006";

    /** SQLSTATE of a statement that was cancelled. */
    private static final String CANCELLED = "57014";

    private final @Nullable Lease lease;
    private final @Nullable FencingToken token;
    private final @Nullable SealedCommit commit;
    private final String leaseless;
    private volatile @Nullable RuntimeException refusal;

    private LeasedTransaction(
            @Nullable Lease lease, @Nullable FencingToken token, @Nullable SealedCommit commit, String leaseless) {
        this.lease = lease;
        this.token = token;
        this.commit = commit;
        this.leaseless = leaseless;
    }

    static LeasedTransaction of(Lease lease, FencingToken token, SealedCommit commit) {
        return new LeasedTransaction(lease, token, commit, "");
    }

    /** A transaction that can only read; {@code why} says for what reason. */
    static LeasedTransaction readOnly(String why) {
        return new LeasedTransaction(null, null, null, why);
    }

    @Nullable
    Lease lease() {
        return lease;
    }

    @Nullable
    FencingToken token() {
        return token;
    }

    @Nullable
    RuntimeException refusal() {
        return refusal;
    }

    /** How it ends; null if it can only read. */
    @Nullable
    SealedCommit commit() {
        return commit;
    }

    void refuse(RuntimeException first) {
        if (refusal == null) {
            refusal = first;
        }
    }

    /** Notes that a statement was cancelled because the lease was lost. */
    void cancelled() {
        if (lease != null) {
            try {
                lease.requireToken();
            } catch (RuntimeException e) {
                refuse(e);
            }
        }
    }

    /** Returns what the caller gets for a failure of a statement. */
    Throwable translated(Throwable failure) {
        if (!(failure instanceof SQLException refused)) {
            return failure;
        }
        RuntimeException earlier = refusal;
        if (earlier != null && CANCELLED.equals(refused.getSQLState())) {
            earlier.addSuppressed(refused);
            return earlier;
        }
        return token == null && READ_ONLY.equals(refused.getSQLState())
                ? new NoLeaseException(
                        "Nothing was written, because " + leaseless + " and the transaction could only read: "
                                + refused.getMessage() + ". Writes belong to the leader: make them while its lease is"
                                + " held, or through a DataSource that is not fenced if they need no leader",
                        refused)
                : failure;
    }
}
