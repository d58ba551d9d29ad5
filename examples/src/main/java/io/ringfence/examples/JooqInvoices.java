package io.ringfence.examples;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.table;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.jooq.JooqFence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.impl.SQLDataType;

/** A repository in jOOQ whose writing methods take a lease, on the tables of {@link InvoiceBatches}. Thread-safe. */
public final class JooqInvoices {
    private static final Table<Record> BATCH = table(name("invoice_batch"));
    private static final Field<Long> ID = field(name("id"), SQLDataType.BIGINT);
    private static final Field<String> STATUS = field(name("status"), SQLDataType.VARCHAR);
    private static final Field<Long> TOTAL = field(name("total"), SQLDataType.BIGINT);

    private static final Table<Record> INVOICE = table(name("invoice"));
    private static final Table<Record> PAYOUT = table(name("payout"));
    private static final Field<Long> BATCH_ID = field(name("batch_id"), SQLDataType.BIGINT);
    private static final Field<Long> AMOUNT = field(name("amount"), SQLDataType.BIGINT);

    private final JooqFence fence = JooqFence.onColumn(FenceSchema.TOKEN_COLUMN).key("id");

    /** Creates a repository. */
    public JooqInvoices() {}

    /**
     * Returns the open batch with the lowest id.
     *
     * @param dsl where to read
     * @return its id; empty if no batch is open
     */
    public Optional<Long> nextOpen(DSLContext dsl) {
        return dsl.select(ID)
                .from(BATCH)
                .where(STATUS.eq("open"))
                .orderBy(ID)
                .limit(1)
                .fetchOptional(ID);
    }

    /**
     * Returns the sum of a batch's invoices.
     *
     * @param dsl where to read
     * @param batch the batch
     * @return the sum; 0 if it has none
     */
    public long total(DSLContext dsl, long batch) {
        return dsl.select(sum(AMOUNT))
                .from(INVOICE)
                .where(BATCH_ID.eq(batch))
                .fetchOptional(0, long.class)
                .orElse(0L);
    }

    /**
     * Closes an open batch, if no newer leader has written it.
     *
     * @param dsl where to write
     * @param lease the leader's lease, or its token
     * @param batch the batch
     * @param total what to close it with
     * @throws NoMatchingRowException if there is no such batch, or it is closed already
     */
    public void close(DSLContext dsl, FencingTokenSource lease, long batch, long total) {
        fence.execute(
                lease,
                dsl.update(BATCH)
                        .set(STATUS, "closed")
                        .set(TOTAL, total)
                        .where(ID.eq(batch))
                        .and(STATUS.eq("open")));
    }

    /**
     * Reopens a batch, or creates it.
     *
     * @param dsl where to write
     * @param lease the leader's lease, or its token
     * @param batch the batch
     */
    public void open(DSLContext dsl, FencingTokenSource lease, long batch) {
        fence.execute(
                lease,
                dsl.insertInto(BATCH, ID, STATUS)
                        .values(batch, "open")
                        .onConflict(ID)
                        .doUpdate()
                        .set(STATUS, "open"));
    }

    /**
     * Closes many batches in one round trip.
     *
     * @param dsl where to write, in a transaction
     * @param lease the leader's lease, or its token
     * @param totals what to close each with, by id
     * @throws io.ringfence.fencing.FencedOutException if some are refused or missing; it names the entries
     */
    public void closeAll(DSLContext dsl, FencingTokenSource lease, Map<Long, Long> totals) {
        List<Query> queries = new ArrayList<>();
        totals.forEach((id, total) -> queries.add(
                dsl.update(BATCH).set(STATUS, "closed").set(TOTAL, total).where(ID.eq(id))));
        fence.batch(lease, queries);
    }

    /**
     * Pays a batch out. An insert has no row that could carry a token: only a sealed transaction protects it.
     *
     * @param dsl where to write, in a sealed transaction
     * @param batch the batch
     * @param amount what to pay
     */
    public void payOut(DSLContext dsl, long batch, long amount) {
        dsl.insertInto(PAYOUT, BATCH_ID, AMOUNT).values(batch, amount).execute();
    }
}
