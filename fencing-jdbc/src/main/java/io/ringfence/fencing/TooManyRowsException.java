package io.ringfence.fencing;

import java.util.Objects;

/**
 * A statement that was expected to write one row wrote more. Each of these rows passed the fence, but the caller meant
 * one.
 *
 * <p><b>The rows are written when this is thrown.</b> In the caller's own transaction only a rollback undoes them, and in
 * auto-commit nothing does; inside {@link ResourceFence#inTransaction} the commit is refused.
 */
public final class TooManyRowsException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The table. */
    private final String target;

    /** How many rows were written. */
    private final long rows;

    /**
     * Creates an exception.
     *
     * @param target the table, for example {@code table invoice}
     * @param rows how many rows were written; negative if the driver could not count them
     */
    public TooManyRowsException(String target, long rows) {
        super(
                "A fenced statement on " + target + " was to write one row and wrote "
                        + (rows < 0 ? "more than the driver can count" : String.valueOf(rows))
                        + ". Roll this transaction back, and narrow the statement's WHERE to one row",
                null);
        this.target = Objects.requireNonNull(target, "target");
        this.rows = rows;
    }

    /** {@return the table, for example {@code table invoice}} */
    public String target() {
        return target;
    }

    /** {@return how many rows were written; negative if the driver could not count them} */
    public long rows() {
        return rows;
    }
}
