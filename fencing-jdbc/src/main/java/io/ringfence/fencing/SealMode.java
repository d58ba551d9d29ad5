package io.ringfence.fencing;

/** How {@link ResourceFence} compares a transaction's token with the fence before COMMIT; all ways are equally safe. */
public enum SealMode {
    /**
     * By the function that {@link FenceSchema#fenceFunctions()} prints, in one message with COMMIT: no round trip more
     * than without a fence. It needs PostgreSQL's own driver behind the connections ({@code unwrap} must reach it, and
     * the class loader), and another {@code preferQueryMode} than {@code simple}. A transaction that has run no statement
     * is sealed as by {@link #SEPARATE}.
     *
     * <p>The driver's connection is used past what is around it, so a proxy does not see the seal; it sees {@code commit()}
     * afterwards. If the session's prepared statements are removed from outside, a commit fails with SQLSTATE 26000 as a
     * {@link java.sql.SQLTransactionRollbackException}: nothing is committed, and the transaction can run again.
     */
    WITH_COMMIT,

    /**
     * By the function that {@link FenceSchema#fenceFunctions()} prints, as a statement of its own. The role needs no right
     * on the fence table, and read-only transactions take no lock.
     */
    SEPARATE,

    /**
     * By a {@code SELECT .. FOR SHARE} of our own. The role needs {@code SELECT} and {@code UPDATE} on the fence table,
     * and so could change it. Used where the function is not installed, or not granted to the role.
     */
    TABLE
}
