package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.BoundedCache;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedText;
import io.ringfence.fencing.internal.RowColumns;
import io.ringfence.fencing.internal.SqlName;
import java.util.List;
import org.jooq.Configuration;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.CustomQueryPart;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** The columns of a fence as one dialect spells them, and what has been learned about texts. Thread-safe. */
final class DialectFence {
    private static final int TEXTS = 1_000;

    private final Dialect dialect;
    private final RowColumns columns;
    private final TokenColumn token;
    private final List<String> keys;
    private final BoundedCache<String, FencedText> texts = new BoundedCache<>(TEXTS, this::read);
    private final BoundedCache<Rendered, SqlName> names = new BoundedCache<>(TEXTS, this::name);

    DialectFence(Dialect dialect, String column, List<String> keys) {
        this.dialect = dialect;
        this.columns = RowColumns.of(dialect, column, keys);
        this.token = new TokenColumn(columns);
        this.keys = columns.keys().stream().map(SqlName::last).toList();
    }

    /** Returns the dialect of a configuration. */
    static Dialect dialect(SQLDialect of) {
        return switch (of.family()) {
            case POSTGRES -> Dialect.POSTGRES;
            case H2 -> Dialect.H2;
            case MARIADB -> Dialect.MARIADB;
            default ->
                throw new NotFenceableException(
                        "Row fences work on PostgreSQL, MariaDB and H2; this query's dialect is " + of
                                + ". Nothing was run: use SQLDialect.POSTGRES, MARIADB or H2");
        };
    }

    Dialect dialect() {
        return dialect;
    }

    RowColumns columns() {
        return columns;
    }

    TokenColumn token() {
        return token;
    }

    FencedQuery query(Query query, Configuration configuration) {
        return FencedQuery.of(query, configuration, token, keys);
    }

    /** Returns the name of a table as jOOQ renders it, without its alias. */
    SqlName name(Configuration configuration, Table<?> table) {
        Settings settings = configuration.settings();
        return names.get(new Rendered(configuration, table, settings, settings.getRenderMapping()));
    }

    private SqlName name(Rendered rendered) {
        String declared = DSL.using(rendered.configuration())
                .render(CustomQueryPart.of(
                        context -> context.declareTables(true, inside -> inside.visit(rendered.table()))));
        try {
            return SqlName.declared(dialect, declared);
        } catch (NotFenceableException e) {
            throw Refused.text(e);
        }
    }

    /** Checks a text that comes again with other values. */
    FencedText text(String sql) {
        return texts.get(sql);
    }

    /** Checks a text with its values in it. */
    FencedText textOnce(String sql) {
        return read(sql);
    }

    private FencedText read(String sql) {
        try {
            return FencedText.require(dialect, sql, columns);
        } catch (NotFenceableException e) {
            throw Refused.text(e);
        }
    }

    /** What decides on how a table is rendered, compared by identity: it is cheaper than rendering. */
    private record Rendered(
            Configuration configuration,
            Table<?> table,
            Settings settings,
            @Nullable RenderMapping mapping) {

        @Override
        @SuppressWarnings("ReferenceEquality")
        public boolean equals(@Nullable Object other) {
            return other instanceof Rendered that
                    && table == that.table
                    && settings == that.settings
                    && mapping == that.mapping;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(table) ^ System.identityHashCode(settings);
        }
    }
}
