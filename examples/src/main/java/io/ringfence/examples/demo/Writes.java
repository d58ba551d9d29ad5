package io.ringfence.examples.demo;

import java.sql.Connection;
import java.sql.SQLException;

/** How a leader writes: with a fence or without. All else that the demo's leaders do is the same code. */
interface Writes {

    /** What a new leader does before any work. */
    void takeOffice() throws SQLException, InterruptedException;

    /** Commits what the work wrote, or throws. */
    void inTransaction(Work work) throws SQLException;

    /** Runs one UPDATE. */
    void update(Connection connection, String sql, Object... parameters) throws SQLException;

    /** What is done in a transaction. */
    @FunctionalInterface
    interface Work {
        void run(Connection connection) throws SQLException;
    }
}
