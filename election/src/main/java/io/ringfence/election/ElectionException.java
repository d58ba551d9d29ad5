package io.ringfence.election;

import org.jspecify.annotations.Nullable;

/** An election could not be held or a lease could not be used. The message says what failed and what to do about it. */
public class ElectionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what failed, with which value, and what to do
     * @param cause what was caught, if anything
     */
    public ElectionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
