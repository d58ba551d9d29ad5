package io.ringfence.fencing;

/**
 * A statement or its target cannot be fenced as it stands. Nothing was run: a statement that is not understood never runs
 * unfenced. The message says what was found, where, and what to write instead.
 */
public final class NotFenceableException extends FencingException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what was found, where, and what to do
     */
    public NotFenceableException(String message) {
        super(message, null);
    }
}
