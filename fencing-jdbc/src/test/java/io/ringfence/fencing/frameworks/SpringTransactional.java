package io.ringfence.fencing.frameworks;

import java.util.function.Consumer;

/** What Spring makes a proxy for. */
interface SpringTransactional {
    void inNew(Consumer<Invoices> work);

    void inNested(Consumer<Invoices> work);

    void inReadOnly(Consumer<Invoices> work);
}
