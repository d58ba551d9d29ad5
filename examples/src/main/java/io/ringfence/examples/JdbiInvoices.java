package io.ringfence.examples;

import io.ringfence.election.Lease;
import io.ringfence.fencing.jdbi.Fenced;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import org.jdbi.v3.sqlobject.customizer.Bind;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;

/** A repository of JDBI whose writing methods take a lease, on the tables of {@link InvoiceBatches}. */
interface JdbiInvoices {

    @SqlQuery("SELECT min(id) FROM invoice_batch WHERE status = 'open'")
    OptionalLong nextOpen();

    @SqlQuery("SELECT coalesce(sum(amount), 0) FROM invoice WHERE batch_id = :batch")
    long total(long batch);

    @SqlUpdate("UPDATE invoice_batch SET status = 'closed', total = :total WHERE id = :batch AND status = 'open'")
    void close(@Fenced Lease lease, long batch, long total);

    @SqlBatch("UPDATE invoice_batch SET status = 'closed' WHERE id = :ids")
    void closeAll(@Fenced Lease lease, @Bind("ids") Collection<Long> ids);

    @SqlQuery("UPDATE invoice_batch SET status = 'cancelled' WHERE status = 'open' RETURNING id")
    List<Long> cancelOpen(@Fenced(rows = Fenced.Rows.ANY) Lease lease);

    @SqlUpdate("INSERT INTO invoice_batch (id, status, <fenceColumn>) VALUES (:id, 'open', <fenceToken>)"
            + " ON CONFLICT (id) DO UPDATE SET status = 'open', <fenceSet> WHERE <fenceWhere>")
    void open(@Fenced(alias = "invoice_batch") Lease lease, long id);

    /** An insert has no row that could carry a token: only a sealed transaction protects it. */
    @SqlUpdate("INSERT INTO payout (batch_id, amount) VALUES (:batch, :amount)")
    void payOut(long batch, long amount);

    /** Closes one batch and pays it out; empty if there was none. */
    @Transaction
    default OptionalLong closeNext(Lease lease) {
        OptionalLong open = nextOpen();
        if (open.isPresent()) {
            long batch = open.getAsLong();
            long total = total(batch);
            close(lease, batch, total);
            payOut(batch, total);
        }
        return open;
    }
}
