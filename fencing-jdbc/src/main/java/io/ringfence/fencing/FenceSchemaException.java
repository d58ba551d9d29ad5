package io.ringfence.fencing;

import java.util.Objects;

/**
 * The database lacks what a fence needs: the fence table, or a token column of the right type. The message ends with the
 * DDL that helps.
 */
public final class FenceSchemaException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The statements that put it right. */
    private final String ddl;

    /**
     * Creates an exception.
     *
     * @param message what is missing or wrong
     * @param ddl the statements that put it right
     */
    public FenceSchemaException(String message, String ddl) {
        super(message + ". Run this once, as the owner:\n" + Objects.requireNonNull(ddl, "ddl"), null);
        this.ddl = ddl;
    }

    /** {@return the statements that put it right} */
    public String ddl() {
        return ddl;
    }
}
