package io.ringfence.fencing;

import java.sql.SQLException;

/**
 * A write through a {@link FencedDataSource} by a process that holds no lease. The database refused it, nothing was
 * written, and the connection is good: reads go on.
 */
public final class NoLeaseException extends FencingException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what was refused, why, and what to do
     * @param cause what the driver said
     */
    public NoLeaseException(String message, SQLException cause) {
        super(message, cause);
    }
}
