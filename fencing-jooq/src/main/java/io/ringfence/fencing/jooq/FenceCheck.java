package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.FencedText;
import io.ringfence.fencing.internal.SqlName;
import java.util.List;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.ExecuteType;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the text that is about to be executed, after all that listeners did to it. It belongs to one execution of one
 * query or batch, and is not serializable, whatever its interface says.
 */
final class FenceCheck implements ExecuteListener {
    private static final long serialVersionUID = 1L;

    private final transient DialectFence fence;
    private final transient List<Expected> expected;
    private int next;
    private @Nullable String checked;

    FenceCheck(DialectFence fence, List<Expected> expected) {
        this.fence = fence;
        this.expected = expected;
    }

    /** What is checked here needs no net. */
    @Override
    public void start(ExecuteContext context) {
        if (context.type() == ExecuteType.BATCH || next == 0) {
            SafetyNet.pass(context);
        }
    }

    /** Before a server may look at the text. */
    @Override
    public void prepareStart(ExecuteContext context) {
        if (isNext(context)) {
            check(context);
        }
    }

    /** Again, should a listener have changed it meanwhile. */
    @Override
    public void prepareEnd(ExecuteContext context) {
        if (isNext(context)) {
            if (!String.valueOf(context.sql()).equals(checked)) {
                check(context);
            }
            next++;
        }
    }

    private boolean isNext(ExecuteContext context) {
        return context.sql() != null && (context.type() == ExecuteType.BATCH || next == 0);
    }

    private void check(ExecuteContext context) {
        String sql = String.valueOf(context.sql());
        FencedText text = context.type() == ExecuteType.BATCH ? fence.textOnce(sql) : fence.text(sql);
        check(fence, text, expected.get(next), sql);
        checked = sql;
    }

    static void check(DialectFence fence, FencedText text, Expected write, String sql) {
        if (!text.table().equals(write.table())) {
            throw new NotFenceableException("This is about table " + text.table() + " and not about " + write.table()
                    + ", and cannot be fenced: " + sql + "\nNothing was run");
        }
        if (text.isReturning() != write.isReturning()) {
            throw new NotFenceableException(
                    write.isReturning()
                            ? "jOOQ does not write RETURNING for " + fence.dialect() + " here: " + sql
                                    + "\nRun the write by execute(..), then read. Nothing was run"
                            : "This returns rows: " + sql
                                    + "\nMake it with returning(..), and run it by fetch(..). Nothing was run");
        }
    }

    /**
     * What a text must be about.
     *
     * @param table the table it writes to
     * @param isReturning whether it returns rows
     */
    record Expected(SqlName table, boolean isReturning) {}
}
