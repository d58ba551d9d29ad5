package io.ringfence.fencing;

/**
 * A write to a table that is declared as fenced came without a fence, and was not run. The message names the table and says
 * how to write to it.
 */
public final class UnfencedWriteException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The table that it would have written to. */
    private final String table;

    /**
     * Creates an exception.
     *
     * @param message what was refused, and what to do instead
     * @param table the table that it would have written to
     */
    public UnfencedWriteException(String message, String table) {
        super(message, null);
        this.table = table;
    }

    /** {@return the table that it would have written to} */
    public String table() {
        return table;
    }
}
