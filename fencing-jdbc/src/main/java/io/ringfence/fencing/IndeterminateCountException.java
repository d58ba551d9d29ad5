package io.ringfence.fencing;

import java.util.Objects;

/**
 * The driver ran a fenced statement and did not say how many rows it wrote, so that neither success nor a refusal can be
 * told. Drivers do so when they rewrite batches, for example with {@code reWriteBatchedInserts} or {@code useBulkStmts}.
 *
 * <p><b>Rows may be written when this is thrown</b>: roll back. Inside {@link ResourceFence#inTransaction} the commit is
 * refused.
 */
public final class IndeterminateCountException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The table. */
    private final String target;

    /**
     * Creates an exception.
     *
     * @param target the table, for example {@code table invoice}
     * @param count what the driver said
     */
    public IndeterminateCountException(String target, long count) {
        super(
                "A fenced write to " + target + " was run, but instead of a number of rows the driver said " + count
                        + " (-2 means: cannot tell). Roll this transaction back. Of batches, switch the driver's rewriting"
                        + " off (reWriteBatchedInserts, useBulkStmts, rewriteBatchedStatements); an upsert on MariaDB has met"
                        + " a row by another unique key than the declared one: update that row instead",
                null);
        this.target = Objects.requireNonNull(target, "target");
    }

    /** {@return the table, for example {@code table invoice}} */
    public String target() {
        return target;
    }
}
