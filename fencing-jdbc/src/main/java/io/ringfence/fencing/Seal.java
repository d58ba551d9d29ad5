package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** A way to compare a transaction's token with its fences. */
interface Seal {

    /**
     * Begins a transaction that will be sealed. By default there is nothing to do.
     *
     * @throws SQLException if the database refuses
     */
    default void begin(Connection connection, Claim claim) throws SQLException {}

    /** Tells which way it is. */
    SealMode mode();

    /**
     * Locks the fences against being raised until the transaction ends; may commit it, too.
     *
     * @param claims one for each fence, in the order of their names
     * @throws CommitOutcomeUnknownException if the connection was lost while it did both
     */
    Verdict seal(Connection connection, List<Claim> claims) throws SQLException;
}
