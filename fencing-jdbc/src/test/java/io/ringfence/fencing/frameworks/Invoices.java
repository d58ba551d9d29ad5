package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;

/** What is done with invoices, on the connection that the framework uses at that point. */
interface Invoices {

    /** Returns the status of an invoice, read from the database. */
    String status(int id);

    /** Sends an INSERT; what the invoice cancels is checked when the transaction commits. */
    void insert(int id, String status, Integer cancels);

    /** Sends an UPDATE. */
    void update(int id, String status);

    /** Sends UPDATEs as a batch. */
    void updateAll(List<Integer> ids, String status);

    /** Does something that is undone alone if it throws, by a savepoint. */
    void nested(Consumer<Invoices> work);

    /** Returns the connection, for code that is given one. */
    Connection connection();
}
