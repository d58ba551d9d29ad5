package io.ringfence.fencing.jooq;

import io.ringfence.fencing.internal.SqlName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jooq.Configuration;
import org.jooq.Query;
import org.jooq.impl.DSL;

/** The queries of a batch, on the connection that they run on. */
final class FencedQueries {
    private final List<JooqWrite> writes;
    private final Configuration checked;

    private FencedQueries(List<JooqWrite> writes, Configuration checked) {
        this.writes = writes;
        this.checked = checked;
    }

    static FencedQueries of(
            List<FencedQuery> queries, DialectFence fence, Configuration configuration, Configuration own) {
        List<JooqWrite> writes = new ArrayList<>();
        List<FenceCheck.Expected> expected = new ArrayList<>();
        Reads reads = new Reads(own, fence.dialect());
        for (FencedQuery query : queries) {
            if (query.isReturning()) {
                throw Refused.query(query.query(), "a batch returns no rows", "Leave RETURNING out");
            }
            SqlName table = fence.name(configuration, query.write().target());
            writes.add(new JooqWrite(reads, fence.token(), query, table, Query::execute));
            expected.add(new FenceCheck.Expected(table, false));
        }
        return new FencedQueries(writes, Attached.listening(own, null, new FenceCheck(fence, expected)));
    }

    /** Returns the one configuration that all queries are attached to. */
    static Configuration configuration(Collection<? extends Query> queries) {
        Set<Configuration> all = Collections.newSetFromMap(new IdentityHashMap<>());
        queries.forEach(query -> all.add(Attached.require(query.configuration())));
        if (all.size() > 1) {
            throw new IllegalArgumentException(
                    "The queries of a batch run on one connection, but belong to different Configurations: create"
                            + " them all with one DSLContext");
        }
        return all.iterator().next();
    }

    List<JooqWrite> writes() {
        return writes;
    }

    long[] run(long token) {
        List<Query> fenced = writes.stream().map(write -> write.fenced(token)).toList();
        int[] counts = DSL.using(checked).batch(fenced).execute();
        long[] rows = Arrays.stream(counts).asLongStream().toArray();
        for (int i = 0; i < rows.length && rows.length == writes.size(); i++) {
            rows[i] = writes.get(i).counted(rows[i], token);
        }
        return rows;
    }
}
