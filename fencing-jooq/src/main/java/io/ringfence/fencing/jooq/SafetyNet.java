package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.UnfencedWriteException;
import io.ringfence.fencing.internal.BoundedCache;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.SqlName;
import io.ringfence.fencing.internal.WrittenTables;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteContext.BatchMode;
import org.jooq.ExecuteListener;
import org.jooq.ExecuteListenerProvider;
import org.jspecify.annotations.Nullable;

/** Refuses every text that writes to one of some tables and was not fenced. Thread-safe. */
final class SafetyNet implements ExecuteListenerProvider {
    private static final Object PASS = SafetyNet.class;
    private static final int TEXTS = 1_000;

    private final JooqFence fence;
    private final List<String> tables;
    private final BoundedCache<Text, Optional<String>> refused = new BoundedCache<>(TEXTS, this::find);

    SafetyNet(JooqFence fence, List<String> tables) {
        this.fence = fence;
        this.tables = tables;
    }

    /** Notes that the text of this execution is checked elsewhere. */
    static void pass(ExecuteContext context) {
        context.data(PASS, true);
    }

    @Override
    public ExecuteListener provide() {
        return new Net(this);
    }

    private void look(ExecuteContext context) {
        if (context.data(PASS) != null) {
            return;
        }
        Dialect dialect = DialectFence.dialect(context.dialect());
        look(context, dialect, context.sql());
        for (String sql : context.batchSQL()) {
            look(context, dialect, sql);
        }
    }

    private void look(ExecuteContext context, Dialect dialect, @Nullable String sql) {
        if (sql == null) {
            return;
        }
        String table = refused.get(new Text(dialect, sql)).orElse(null);
        if (table != null) {
            String remedy = context.batchMode() == BatchMode.SINGLE
                    ? "Hand the queries to JooqFence.batch(lease, queries) with their values, instead of binding them"
                    : "Run it by JooqFence.execute, fetch, batch or store, or put JooqFence.condition and assignment"
                            + " into it";
            throw new UnfencedWriteException(
                    "A write to the fenced table " + table + " came without a fence, and was not run: " + sql + "\n"
                            + remedy,
                    table);
        }
    }

    private Optional<String> find(Text text) {
        List<SqlName> written;
        try {
            written = WrittenTables.in(text.dialect(), text.sql());
        } catch (NotFenceableException e) {
            String lower = text.sql().toLowerCase(Locale.ROOT);
            return tables.stream()
                    .filter(table -> lower.contains(last(table).toLowerCase(Locale.ROOT)))
                    .findFirst();
        }
        return written.stream()
                .flatMap(name -> tables.stream().filter(table -> isNamed(name, table)))
                .findFirst()
                .filter(table -> !WrittenTables.areFenced(text.dialect(), text.sql(), fence.columns(text.dialect())));
    }

    /** The name alone decides: what a schema is called may differ from what is rendered. */
    private static boolean isNamed(SqlName name, String table) {
        return name.last().equalsIgnoreCase(last(table));
    }

    private static String last(String table) {
        return table.substring(table.lastIndexOf('.') + 1).replaceAll("^[\"`]|[\"`]$", "");
    }

    private record Text(Dialect dialect, String sql) {}

    private static final class Net implements ExecuteListener {
        private static final long serialVersionUID = 1L;

        private final transient SafetyNet net;

        Net(SafetyNet net) {
            this.net = net;
        }

        /** Before a server may look at the text. */
        @Override
        public void prepareStart(ExecuteContext context) {
            net.look(context);
        }

        /** Again, should a listener have changed it meanwhile, and for batches. */
        @Override
        public void executeStart(ExecuteContext context) {
            net.look(context);
        }
    }
}
