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
        if (!query.write().isReadBack()) {
            return rows;
        }
        Condition ours = column.alone().eq(DSL.val(token, column.alone()));
        return read(DSL.inline(true), query.write().rows().orElseThrow().and(ours))
                .rows();
    }

    @Override
    public Found look() {
        WriteModel write = query.write();
        Condition rows =
                write.key().map(KeyCondition::condition).or(write::rows).orElse(DSL.falseCondition());
        return read(write.matching(), rows);
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
