package io.ringfence.fencing.jooq;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.FieldOrRow;
import org.jooq.FieldOrRowOrSelect;
import org.jooq.Query;
import org.jooq.QueryPart;
import org.jooq.SortField;
import org.jooq.Table;
import org.jooq.UpdateQuery;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/**
 * An UPDATE or DELETE: the rows that its condition names.
 *
 * @param query the whole
 * @param others the tables of FROM or USING
 */
record ConditionedWrite(
        Query query,
        Table<?> target,
        QOM.@Nullable With with,
        List<? extends Table<?>> others,
        @Nullable Condition condition,
        TokenColumn column,
        List<String> keys)
        implements WriteModel {

    static ConditionedWrite of(QOM.Update<?> update, TokenColumn column, List<String> keys) {
        column.refuseIn(update.$set().keySet(), update);
        refuseSliding(update, update.$orderBy(), update.$limit());
        return new ConditionedWrite(
                update, update.$table(), update.$with(), List.copyOf(update.$from()), update.$where(), column, keys);
    }

    static ConditionedWrite of(QOM.Delete<?> delete, TokenColumn column, List<String> keys) {
        refuseSliding(delete, delete.$orderBy(), delete.$limit());
        return new ConditionedWrite(
                delete, delete.$from(), delete.$with(), List.copyOf(delete.$using()), delete.$where(), column, keys);
    }

    private static void refuseSliding(Query query, List<? extends SortField<?>> order, @Nullable Field<?> limit) {
        if (!order.isEmpty() || limit != null) {
            throw Refused.query(
                    query,
                    "ORDER BY and LIMIT would slide past rows that a newer leader holds",
                    "Select the keys of the rows first, and name them in the WHERE");
        }
    }

    boolean isWithoutWhere() {
        return condition == null || condition.equals(DSL.noCondition());
    }

    boolean isUpdate() {
        return query instanceof QOM.Update<?>;
    }

    @Override
    public Query fenced(Field<Long> token) {
        Field<Long> own = others.isEmpty() ? column.alone() : column.of(target);
        Condition fence = TokenColumn.notNewer(own, token);
        Condition fenced = condition == null ? fence : DSL.and(condition, fence);
        if (query instanceof QOM.Update<?> update) {
            QOM.Update<?> copy = update.$where(fenced);
            if (copy instanceof UpdateQuery<?> added) {
                added.addValue(column.alone(), token); // cheaper than another copy
                return added;
            }
            Map<FieldOrRow, FieldOrRowOrSelect> assignments = new LinkedHashMap<>(update.$set());
            assignments.put(column.alone(), token);
            return copy.$set(assignments);
        }
        return ((QOM.Delete<?>) query).$where(fenced);
    }

    @Override
    public Optional<KeyCondition> key() {
        return KeyCondition.find(condition, keys, others.isEmpty() ? null : target.getName());
    }

    @Override
    public Optional<Condition> rows() {
        return Optional.of(whole());
    }

    @Override
    public Field<Boolean> matching() {
        return DSL.boolOr(whole());
    }

    @Override
    public boolean knowsSkipped() {
        return true;
    }

    /** The condition for a row of the target alone, so that each row counts once. */
    private Condition whole() {
        if (condition == null) {
            return others.isEmpty()
                    ? DSL.trueCondition()
                    : exists(DSL.selectOne().from(others));
        }
        Condition all = others.isEmpty()
                ? condition
                : exists(DSL.selectOne().from(others).where(condition));
        return DSL.condition("{0} IS TRUE", DSL.field(all));
    }

    /** DSL.exists is not the same method in all lines of jOOQ. */
    private static Condition exists(QueryPart select) {
        return DSL.condition("exists ({0})", select);
    }
}
