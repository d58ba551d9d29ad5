package io.ringfence.fencing.frameworks;

import java.util.function.Consumer;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A bean whose methods Spring runs in transactions. */
class SpringTransactions implements SpringTransactional {
    private final Invoices invoices;

    SpringTransactions(Invoices invoices) {
        this.invoices = invoices;
    }

    @Override
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void inNew(Consumer<Invoices> work) {
        work.accept(invoices);
    }

    @Override
    @Transactional(propagation = Propagation.NESTED)
    public void inNested(Consumer<Invoices> work) {
        work.accept(invoices);
    }

    @Override
    @Transactional(readOnly = true)
    public void inReadOnly(Consumer<Invoices> work) {
        work.accept(invoices);
    }
}
