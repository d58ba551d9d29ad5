package io.ringfence.fencing.jooq;

import io.ringfence.election.Lease;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.ResourceFence;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.TransactionProvider;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultTransactionProvider;
import org.jspecify.annotations.Nullable;

/**
 * jOOQ's own transactions, each compared with a {@link ResourceFence} as the last thing before its COMMIT.
 *
 * <pre>{@code
 * Configuration sealed = SealedTransactions.on(configuration, fence, current::get);
 * sealed.dsl().transaction(inside -> inside.dsl().insertInto(..).execute());
 * }</pre>
 *
 * <p><b>Guaranteed.</b> What {@link FencedDataSource} guarantees: after {@link ResourceFence#raise} has returned, nothing
 * of this configuration with a lower token commits, whatever it wrote to, records, batches and plain SQL included. That
 * holds for {@code transaction(..)} as for statements outside of one, each of which is a transaction of its own. Nested
 * transactions are savepoints; the seal comes with the outermost commit. A refusal of a {@link JooqFence} inside makes the
 * commit fail, even if it was swallowed.
 *
 * <p><b>Exceptions.</b> {@link io.ringfence.fencing.FencedOutException} and the others of
 * {@link ResourceFence#inTransaction} arrive as they are from {@code transaction(..)}, and as the cause of a
 * {@link org.jooq.exception.DataAccessException} from a statement outside. Without a lease transactions can read, and
 * writes are refused with {@link io.ringfence.fencing.NoLeaseException}.
 *
 * <p><b>Not guaranteed.</b> Asynchronous and reactive transactions do not go through this, nor do connections of the
 * {@link DataSource} itself. Transactions that somebody else begins and ends, as Spring does, are not jOOQ's to seal: put
 * {@link FencedDataSource} below Spring.
 *
 * <p>Works on PostgreSQL. The configuration is thread-safe as far as the one is that it was made from.
 */
public final class SealedTransactions {
    private SealedTransactions() {}

    /**
     * {@return a configuration whose every transaction is sealed} Everything else is as in the one that is given, which
     * stays as it is. Does no I/O.
     *
     * @param configuration has a {@link DataSource} of its own, and jOOQ's default transactions
     * @param fence is compared with, on the connections of that DataSource
     * @param leases gives the lease of the present term, or null; called at the beginning of each transaction, and must
     *     not block
     * @throws NotFenceableException if transactions are made by Spring or by thread, or connections are not from a
     *     DataSource
     */
    public static Configuration on(
            Configuration configuration, ResourceFence fence, Supplier<? extends @Nullable Lease> leases) {
        Objects.requireNonNull(leases, "leases");
        requireOwnTransactions(configuration.transactionProvider());
        FencedDataSource fenced = FencedDataSource.of(dataSource(configuration), fence, leases);
        return configuration
                .derive(new DataSourceConnectionProvider(fenced))
                .derive(new SealedTransactionProvider(fenced));
    }

    private static void requireOwnTransactions(TransactionProvider provider) {
        if (!(provider instanceof DefaultTransactionProvider)) {
            throw new NotFenceableException("Transactions are begun and ended by "
                    + provider.getClass().getName()
                    + ", so that jOOQ cannot seal them. Use FencedDataSource as the DataSource below it instead");
        }
    }

    private static DataSource dataSource(Configuration configuration) {
        ConnectionProvider connections = configuration.connectionProvider();
        if (connections instanceof DataSourceConnectionProvider provider) {
            DataSource pool = provider.dataSource();
            if (pool.getClass().getName().startsWith("org.springframework.")) {
                throw new NotFenceableException(
                        "Connections come from Spring's " + pool.getClass().getSimpleName()
                                + ", which takes part in Spring's transactions. Use FencedDataSource below it instead");
            }
            return pool;
        }
        throw new NotFenceableException("A sealed transaction needs a connection of its own from a DataSource, and this"
                + " Configuration has them from " + connections.getClass().getName()
                + ". Give it a DataSource, or use jOOQ on the connection of ResourceFence.inTransaction");
    }
}
