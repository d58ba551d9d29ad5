package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.TableField;
import org.jooq.UpdatableRecord;
import org.jooq.exception.DataChangedException;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** A record that jOOQ writes, with a fence in its statement. */
final class RecordWrite implements RowWrite {
    private final UpdatableRecord<?> record;
    private final ToIntFunction<UpdatableRecord<?>> action;
    private final DialectFence fence;
    private final Configuration configuration;
    private final SqlName table;
    private @Nullable DataChangedException changed;
    private boolean written;

    RecordWrite(
            UpdatableRecord<?> record,
            ToIntFunction<UpdatableRecord<?>> action,
            DialectFence fence,
            SqlName table,
            Configuration configuration) {
        this.record = record;
        this.action = action;
        this.fence = fence;
        this.configuration = configuration;
        this.table = table;
    }

    /** Leaves a value of the token that nobody chose out of the write, and refuses one that somebody did. */
    static void prepare(UpdatableRecord<?> record, TokenColumn column) {
        Field<?> token = own(record, column);
        if (token == null || !record.changed(token)) {
            return;
        }
        Object value = record.get(token);
        if (value != null
                && !value.equals(record.original(token))
                && !(value instanceof Number number && number.longValue() == 0)) {
            throw column.ownAssignment(record);
        }
        record.reset(token);
    }

    private static @Nullable Field<?> own(UpdatableRecord<?> record, TokenColumn column) {
        return record.field(column.name());
    }

    /** Gives the record the token that its row has now. */
    void refresh(long token) {
        Field<?> own = own(record, fence.token());
        if (own != null) {
            set(own, token);
        }
    }

    private <T> void set(Field<T> field, long token) {
        record.set(field, DSL.val(token, field).getValue());
        record.changed(field, false);
    }

    /** What jOOQ's optimistic locking said, if that is why nothing was written. */
    @Nullable
    DataChangedException changed() {
        return changed;
    }

    /** Says what jOOQ says, and that no newer leader is the cause. */
    static RuntimeException because(NoMatchingRowException fence, DataChangedException changed) {
        changed.addSuppressed(fence);
        return changed;
    }

    /** Whether jOOQ found anything to write. */
    boolean hasWritten() {
        return written;
    }

    @Override
    public SqlName table() {
        return table;
    }

    @Override
    public @Nullable String key() {
        return record.getTable().getPrimaryKey() == null
                ? null
                : record.getTable().getPrimaryKey().getFields().stream()
                        .map(field -> field.getName() + " = " + record.original(field))
                        .collect(Collectors.joining(" AND "));
    }

    @Override
    public long run(long token) {
        RecordSwap swap = new RecordSwap(fence, record.getTable(), table, token);
        Configuration before = record.configuration();
        boolean[] marks = marks();
        int rows = 0;
        record.attach(Attached.listening(configuration, swap, null));
        try {
            rows = action.applyAsInt(record);
            written = swap.hasWritten();
            // what is not written is refused by nobody
            return written ? rows : 1;
        } catch (DataChangedException e) {
            changed = e;
            return 0;
        } finally {
            record.attach(before);
            if (rows == 0) {
                restore(marks);
            }
        }
    }

    /** What has changed in the record, which jOOQ marks anew even if it deleted nothing. */
    private boolean[] marks() {
        boolean[] marks = new boolean[record.size()];
        for (int i = 0; i < marks.length; i++) {
            marks[i] = record.changed(i);
        }
        return marks;
    }

    private void restore(boolean[] marks) {
        for (int i = 0; i < marks.length; i++) {
            if (record.changed(i) != marks[i]) {
                record.changed(i, marks[i]);
            }
        }
    }

    @Override
    public Found look() {
        return read(DSL.inline(changed == null), DSL.noCondition());
    }

    @Override
    public boolean explains(Found found) {
        return key() != null;
    }

    @Override
    public Found skipped(long token) {
        Field<Long> column = fence.token().alone();
        return read(DSL.inline(true), column.gt(DSL.val(token, column)));
    }

    private Found read(Field<Boolean> matching, Condition more) {
        Condition rows = more;
        for (TableField<?, ?> field : record.getTable().getPrimaryKey().getFields()) {
            rows = rows.and(isOriginal(field));
        }
        Field<Boolean> found = DSL.field(DSL.count().gt(0).and(DSL.condition(matching)));
        return new Reads(configuration, fence.dialect())
                .read(record.getTable(), null, found, rows, fence.token().alone());
    }

    private <T> Condition isOriginal(Field<T> field) {
        T value = record.original(field);
        Param<T> parameter = DSL.val(value == null ? record.get(field) : value, field);
        return field.eq(parameter);
    }
}
