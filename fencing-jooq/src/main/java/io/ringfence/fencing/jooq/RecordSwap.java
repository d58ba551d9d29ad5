package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.FencedText;
import io.ringfence.fencing.internal.SqlName;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.Query;
import org.jooq.Table;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/**
 * Puts the fence into the statement that jOOQ makes of a record, while jOOQ does everything else: its listeners, optimistic
 * locking, generated values. The token is a literal, so the places of the bind values stay as they are.
 */
final class RecordSwap implements ExecuteListener {
    private static final long serialVersionUID = 1L;
    private static final Object SWAPPED = RecordSwap.class;

    private final transient DialectFence fence;
    private final transient Table<?> table;
    private final transient SqlName name;
    private final long token;
    private boolean written;

    RecordSwap(DialectFence fence, Table<?> table, SqlName name, long token) {
        this.fence = fence;
        this.table = table;
        this.name = name;
        this.token = token;
    }

    /** Tells whether there was anything to write. */
    boolean hasWritten() {
        return written;
    }

    @Override
    public void renderEnd(ExecuteContext context) {
        Query query = context.query();
        if (query == null || !table.equals(target(query))) {
            return;
        }
        Query fenced = fence.query(query, context.configuration())
                .fenced(DSL.inline(token, fence.token().alone()));
        DSLContext dsl = DSL.using(context.configuration());
        boolean literal = context.settings().getStatementType() == StatementType.STATIC_STATEMENT;
        context.sql(literal ? dsl.renderInlined(fenced) : dsl.render(fenced));
        context.data(
                SWAPPED,
                query.getBindValues().size() == dsl.extractBindValues(fenced).size());
    }

    @Override
    public void prepareEnd(ExecuteContext context) {
        check(context);
    }

    /** Before a server may look at the text, which then is what comes again at the end. */
    @Override
    public void prepareStart(ExecuteContext context) {
        check(context);
    }

    private void check(ExecuteContext context) {
        Object swapped = context.data(SWAPPED);
        String sql = context.sql();
        if (swapped == null || sql == null) {
            return;
        }
        FencedText text = fence.text(sql);
        if (!Boolean.TRUE.equals(swapped) || !text.table().equals(name)) {
            throw new NotFenceableException("This write of a record of " + name + " cannot be fenced: " + sql
                    + "\nRun it as a query by JooqFence.execute. Nothing was run");
        }
        written = true;
    }

    private static @Nullable Table<?> target(Query query) {
        return query instanceof QOM.Update<?> update
                ? update.$table()
                : query instanceof QOM.Delete<?> delete
                        ? delete.$from()
                        : query instanceof QOM.Insert<?> insert ? insert.$into() : null;
    }
}
