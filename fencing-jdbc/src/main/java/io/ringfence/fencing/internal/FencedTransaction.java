package io.ringfence.fencing.internal;

import io.ringfence.election.FencingToken;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** A transaction that Ringfence will seal and commit; its connection unwraps to it. */
public interface FencedTransaction {

    /**
     * Checks that a write comes with the token of the transaction.
     *
     * @param token the token of the write
     * @throws IllegalStateException if it is another one
     */
    void join(FencingToken token);

    /**
     * Makes the transaction end in a rollback, whatever the work does from now on. The first refusal counts.
     *
     * @param refusal what the caller of the transaction will get
     */
    void refuse(RuntimeException refusal);

    /**
     * Checks that a write comes with the token of its transaction.
     *
     * @param token the token of the transaction
     * @param presented the token of the write
     * @throws IllegalStateException if it is another one
     */
    static void requireSame(FencingToken token, FencingToken presented) {
        if (!presented.equals(token)) {
            throw new IllegalStateException("This transaction runs with token " + token
                    + " and cannot write with token " + presented + ": one transaction, one token");
        }
    }

    /**
     * Finds the transaction behind a connection.
     *
     * @param connection any connection
     * @return the transaction; empty if the connection is not one of ours
     * @throws SQLException if the connection refuses to tell
     */
    static Optional<FencedTransaction> of(Connection connection) throws SQLException {
        return connection.isWrapperFor(FencedTransaction.class)
                ? Optional.of(connection.unwrap(FencedTransaction.class))
                : Optional.empty();
    }
}
