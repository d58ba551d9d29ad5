package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.internal.Dialect;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jooq.DSLContext;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** What the fence costs besides the database: rewriting, checking and rendering, against jOOQ's rendering alone. */
class RewritingCostTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 15;
    private static final int ROUNDS = 21;
    private static final int CALLS = 2_000;

    /** Rewriting may take twice as long as rendering; a busy machine gets more. */
    private static final double SLACK = 3;

    private final DSLContext dsl = DSL.using(SQLDialect.POSTGRES);
    private final DialectFence fence = new DialectFence(Dialect.POSTGRES, "fencing_token", List.of());
    private int sink;

    private Query rewritten(Query query) {
        FencedQuery rewritten = fence.query(query, dsl.configuration());
        fence.name(dsl.configuration(), rewritten.write().target());
        return rewritten.fenced(DSL.val(7L, fence.token().alone()));
    }

    private String fenced(Query query) {
        String sql = DSL.using(dsl.configuration()).render(rewritten(query));
        fence.text(sql);
        return sql;
    }

    private long time(Supplier<String> work) {
        long start = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < CALLS; i++) {
            sink += work.get().length();
        }
        return (THREADS.getCurrentThreadCpuTime() - start) / CALLS;
    }

    @Test
    void costsAboutAsMuchAgain_asJooqNeedsToRender() {
        for (Query query : List.of(
                dsl.update(INVOICE).set(INVOICE.STATUS, "closed").where(INVOICE.ID.eq(1)),
                dsl.update(INVOICE)
                        .set(INVOICE.STATUS, "closed")
                        .set(INVOICE.TOTAL, new Money(1))
                        .where(INVOICE.ID.in(1, 2, 3).and(INVOICE.STATUS.in("a", "b", "c")))
                        .and(INVOICE.TOTAL.isNotNull().or(INVOICE.STATUS.isNull())),
                dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1)),
                dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                        .values(1, "x")
                        .onConflict(INVOICE.ID)
                        .doUpdate()
                        .set(INVOICE.STATUS, "x"))) {
            String fenced = fenced(query);
            double[] ratios = new double[ROUNDS];
            double[] rewriting = new double[ROUNDS];
            long[] plain = new long[ROUNDS];
            long[] whole = new long[ROUNDS];
            for (int round = -WARM_UP; round < ROUNDS; round++) {
                long alone = time(() -> DSL.using(dsl.configuration()).render(query));
                long all = time(() -> fenced(query));
                long before = time(() ->
                        fence.text(fenced).table() + rewritten(query).getClass().getName());
                if (round >= 0) {
                    plain[round] = alone;
                    whole[round] = all;
                    ratios[round] = (double) all / alone;
                    rewriting[round] = (double) before / alone;
                }
            }
            Arrays.sort(ratios);
            Arrays.sort(rewriting);
            Arrays.sort(plain);
            Arrays.sort(whole);
            double quickest = (double) whole[0] / plain[0];
            System.out.printf(
                    Locale.ROOT,
                    "rewriting takes %.2f times as long as rendering, both together %.2f, the quickest rounds %.2f (%d ns,"
                            + " and %d ns): %s%n",
                    rewriting[ROUNDS / 2],
                    ratios[ROUNDS / 2],
                    quickest,
                    whole[0],
                    plain[0],
                    query.getSQL());
            assertThat(rewriting[ROUNDS / 2]).isLessThan(SLACK);
            assertThat(ratios[ROUNDS / 2]).isLessThan(SLACK + 1);
        }
        assertThat(sink).isPositive();
    }
}
