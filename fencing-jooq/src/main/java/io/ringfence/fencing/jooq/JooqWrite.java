package io.ringfence.fencing.jooq;

import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import java.util.function.ToLongFunction;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** A query on the connection that it runs on. */
final class JooqWrite implements RowWrite {
    /** What was written is not there: it went to a row with another key. */
    private static final long UNKNOWN = -2;

    private final Reads reads;
    private final TokenColumn column;
    private final FencedQuery query;
    private final SqlName table;
    private final ToLongFunction<Query> run;

    JooqWrite(Reads reads, TokenColumn column, FencedQuery query, SqlName table, ToLongFunction<Query> run) {
        this.reads = reads;
        this.column = column;
        this.query = query;
        this.table = table;
        this.run = run;
    }

    @Override
    public SqlName table() {
        return table;
    }

    @Override
    public @Nullable String key() {
        return query.write().key().map(KeyCondition::text).orElse(null);
    }

    /** The rewritten query, for this token. */
    Query fenced(long token) {
        return query.fenced(DSL.val(token, column.alone()));
    }

    @Override
    public long run(long token) {
        return counted(run.applyAsLong(fenced(token)), token);
    }

    /** Returns the count of the database, or where it says nothing how many of the rows carry our token now. */
    long counted(long rows, long token) {
        int least = query.write().readBack();
        if (least == 0) {
            return rows;
        }
        Condition meant = query.write().rows().orElseThrow();
        Condition ours = column.alone().eq(DSL.val(token, column.alone()));
        boolean another = read(DSL.inline(true), meant).rows() < least;
        return another ? UNKNOWN : read(DSL.inline(true), meant.and(ours)).rows();
    }

    @Override
    public Found look() {
        WriteModel write = query.write();
        Condition rows =
                write.key().map(KeyCondition::condition).or(write::rows).orElse(DSL.falseCondition());
        return read(write.matching(), rows);
    }

    @Override
    public boolean explains(Found found) {
        return query.write().explains(found);
    }

    @Override
    public Found skipped(long token) {
        WriteModel write = query.write();
        Field<Long> own = column.alone();
        Condition newer = own.gt(DSL.val(token, own)).or(own.isNull());
        return write.knowsSkipped() && write.rows().isPresent()
                ? read(DSL.inline(true), DSL.and(write.rows().get(), newer))
                : Found.NOTHING;
    }

    private Found read(Field<Boolean> matching, Condition rows) {
        return reads.read(query.write().target(), query.write().with(), matching, rows, column.alone());
    }
}
