package io.ringfence.fencing.frameworks;

import java.util.function.Consumer;

/**
 * A framework over a data source. Its transactions are committed when the work returns, and rolled back when it throws;
 * each is done as the framework's manual shows it, and nothing in it knows of leases.
 */
interface Framework extends AutoCloseable {

    /** Runs a new transaction, also within another one. */
    void inTransaction(Consumer<Invoices> work);

    void inReadOnlyTransaction(Consumer<Invoices> work);

    /** Runs work that is in no transaction, so that each statement is one. */
    void withoutTransaction(Consumer<Invoices> work);

    @Override
    void close();
}
