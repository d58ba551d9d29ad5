package io.ringfence.fencing.frameworks;

import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** Spring: {@code @Transactional}, with any of its transaction managers. */
final class SpringManaged implements Framework {
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private final Invoices alone;
    private final Runnable close;

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Annotations {}

    SpringManaged(
            PlatformTransactionManager manager,
            Function<Supplier<SpringTransactional>, Invoices> repository,
            Invoices alone,
            Runnable close) {
        this.alone = alone;
        this.close = close;
        Invoices invoices = repository.apply(this::transactional);
        context.register(Annotations.class);
        context.registerBean(PlatformTransactionManager.class, () -> manager);
        context.registerBean(SpringTransactions.class, () -> new SpringTransactions(invoices));
        context.refresh();
    }

    /** Spring with its template; {@code queries} is the manager's data source, or one above it. */
    static SpringManaged withTemplate(PlatformTransactionManager manager, DataSource queries) {
        return new SpringManaged(
                manager,
                transactional -> new SpringInvoices(queries, transactional),
                new SpringInvoices(queries, () -> null),
                () -> {});
    }

    private SpringTransactional transactional() {
        return context.getBean(SpringTransactional.class);
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        transactional().inNew(work);
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        transactional().inReadOnly(work);
    }

    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        work.accept(alone);
    }

    @Override
    public void close() {
        context.close();
        close.run();
    }
}
