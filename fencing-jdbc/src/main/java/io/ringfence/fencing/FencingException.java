package io.ringfence.fencing;

import org.jspecify.annotations.Nullable;

/**
 * A fenced write or a fence itself failed. The message says what failed, why, and what to do next.
 *
 * <p>It is no {@link java.sql.SQLException} and carries no SQLSTATE, so no connection pool takes a refusal for a broken
 * connection. A driver's exception is kept as the cause where there is one.
 */
public class FencingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what failed, why, and what to do
     * @param cause what was caught, if anything
     */
    public FencingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
