package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** A way to write a higher token into a fence. */
interface Raising {

    /** Writes it, in the transaction that is open. Returns why it was not written; empty if it was. */
    Optional<RuntimeException> raise(Connection connection, Claim claim) throws SQLException;
}
