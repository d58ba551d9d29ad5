package io.ringfence.fencing;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A fenced write or a fence itself failed. The message says what failed, why, and what to do next.
 *
 * <p>It is no {@link java.sql.SQLException} and carries no SQLSTATE, so no connection pool takes a refusal for a broken
 * connection. A driver's exception is kept as the cause where there is one.
 */
public class FencingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Which statement of the caller this is about, if its message does not tell. */
    private @Nullable String place;

    /**
     * Creates an exception.
     *
     * @param message what failed, why, and what to do
     * @param cause what was caught, if anything
     */
    public FencingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * Adds to the message which statement of the caller this is about, for adapters that know. The first one counts.
     *
     * @param statement the place and the text, for example {@code Invoices.close: UPDATE invoice ..}
     */
    public final void at(String statement) {
        if (place == null) {
            place = Objects.requireNonNull(statement, "statement");
        }
    }

    @Override
    public final String getMessage() {
        String message = String.valueOf(super.getMessage());
        return place == null ? message : message + "\nIn " + place;
    }
}
