package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.Field;
import org.jooq.FieldOrRow;
import org.jooq.FieldOrRowOrSelect;
import org.jooq.Query;
import org.jooq.Record3;
import org.jooq.Table;
import org.jooq.conf.ExecuteWithoutWhere;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * A finished jOOQ query with its fence.
 *
 * <p>The rewriting goes through jOOQ's object model, so that bind values keep their bindings and converters. The text
 * that jOOQ renders is held against the grammar that plain JDBC statements go through, before the rewriting and after it:
 * fragments of plain SQL inside the query cannot bring in a clause, an assignment of the token, or an OR that escapes.
 */
final class FencedQuery implements RowWrite {
    private final Configuration configuration;
    private final Query query;
    private final String column;
    private final Field<Long> tokenField;
    private final SqlName table;
    private final Optional<KeyCondition> key;

    private FencedQuery(Configuration configuration, Query query, String column, List<String> keys) {
        this.configuration = configuration;
        this.query = query;
        this.column = column;
        this.tokenField = DSL.field(DSL.quotedName(column), SQLDataType.BIGINT.notNull());
        this.table = FencedStatement.compile(query.getSQL(), column, keys).table();
        this.key = KeyCondition.find(condition(), keys);
    }

    static FencedQuery of(Configuration configuration, Query query, String column, List<String> keys) {
        boolean plain;
        if (query instanceof QOM.Update<?> update) {
            plain = update.$with() == null
                    && update.$from().isEmpty()
                    && update.$orderBy().isEmpty()
                    && update.$limit() == null;
        } else if (query instanceof QOM.Delete<?> delete) {
            plain = delete.$with() == null
                    && delete.$using().isEmpty()
                    && delete.$orderBy().isEmpty()
                    && delete.$limit() == null;
        } else {
            plain = false;
        }
        if (!plain) {
            throw new NotFenceableException("This query cannot be fenced: " + query
                    + "\nPass an UPDATE or DELETE of one table that is built with jOOQ's DSL, without WITH, FROM, USING,"
                    + " ORDER BY, LIMIT and RETURNING, or run it in ResourceFence.inTransaction, which fences whatever a"
                    + " transaction does");
        }
        FencedQuery fenced = new FencedQuery(configuration, query, column, keys);
        fenced.requireWhere();
        return fenced;
    }

    /** The fence adds a WHERE, which would hide from jOOQ that the query has none. */
    private void requireWhere() {
        Settings settings = configuration.settings();
        ExecuteWithoutWhere without = query instanceof QOM.Update<?>
                ? settings.getExecuteUpdateWithoutWhere()
                : settings.getExecuteDeleteWithoutWhere();
        Condition condition = condition();
        if (without == ExecuteWithoutWhere.THROW && (condition == null || condition.equals(DSL.noCondition()))) {
            throw new NotFenceableException("jOOQ's settings refuse a query without WHERE, and this one has none: "
                    + query + "\nName the row in its WHERE");
        }
    }

    @Override
    public SqlName table() {
        return table;
    }

    @Override
    public @Nullable String key() {
        return key.map(KeyCondition::text).orElse(null);
    }

    @Override
    public int run(long token) {
        Condition fence = tokenField.le(DSL.val(token, tokenField));
        Condition fenced = condition() == null ? fence : DSL.and(condition(), fence);
        Query rewritten;
        if (query instanceof QOM.Update<?> update) {
            Map<FieldOrRow, FieldOrRowOrSelect> assignments = new LinkedHashMap<>(update.$set());
            assignments.put(tokenField, DSL.val(token, tokenField));
            rewritten = update.$set(assignments).$where(fenced);
        } else {
            rewritten = ((QOM.Delete<?>) query).$where(fenced);
        }
        rewritten.attach(configuration);
        FencedStatement.requireFenced(rewritten.getSQL(), column);
        return rewritten.execute();
    }

    @Override
    public Found look() {
        Condition whole =
                condition() == null ? DSL.trueCondition() : DSL.condition("{0} IS TRUE", DSL.field(condition()));
        Table<?> target = query instanceof QOM.Update<?> update ? update.$table() : ((QOM.Delete<?>) query).$from();
        Record3<Integer, Long, Boolean> found = DSL.using(configuration)
                .select(DSL.count(), DSL.max(tokenField), DSL.boolOr(whole))
                .from(target)
                .where(key.map(KeyCondition::condition).orElse(whole))
                .fetchSingle();
        return new Found(found.value1(), found.value2(), Boolean.TRUE.equals(found.value3()));
    }

    private @Nullable Condition condition() {
        return query instanceof QOM.Update<?> update ? update.$where() : ((QOM.Delete<?>) query).$where();
    }
}
