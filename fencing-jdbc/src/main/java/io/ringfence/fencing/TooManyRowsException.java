package io.ringfence.fencing;

import java.util.Objects;

/**
 * A statement wrote more rows than it was expected to, one if nothing else was said. Each of these rows passed the fence,
 * but the caller did not mean all of them.
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
     * @param rows how many rows were written
     * @param expected how many were expected
     */
    public TooManyRowsException(String target, long rows, ExpectedRows expected) {
        super(
                "A fenced statement on " + target + " was to write " + expected + " and wrote " + rows
                        + " rows. Roll this transaction back, and narrow the statement's WHERE or expect another number",
                null);
        this.target = Objects.requireNonNull(target, "target");
        this.rows = rows;
    }

    /** {@return the table, for example {@code table invoice}} */
    public String target() {
        return target;
    }

    /** {@return how many rows were written} */
    public long rows() {
        return rows;
    }
}
