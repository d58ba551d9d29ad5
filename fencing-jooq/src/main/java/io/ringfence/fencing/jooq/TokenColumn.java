package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.RowColumns;
import java.util.Collection;
import java.util.stream.Stream;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.FieldOrRow;
import org.jooq.Name;
import org.jooq.Row;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** The token column as jOOQ writes it, whatever converter the user's own field for it has. */
final class TokenColumn {
    private final Name name;
    private final Field<Long> alone;

    TokenColumn(RowColumns columns) {
        this.name = DSL.quotedName(columns.token().last());
        this.alone = DSL.field(name, SQLDataType.BIGINT.notNull());
    }

    String name() {
        return alone.getName();
    }

    /** The column where only one table is in reach, and where columns are assigned. */
    Field<Long> alone() {
        return alone;
    }

    /** The column of this table, where others are in reach. */
    Field<Long> of(Table<?> table) {
        Field<?> own = table.field(name);
        return own != null
                ? own.coerce(SQLDataType.BIGINT.notNull())
                : DSL.field(table.getUnqualifiedName().append(name), SQLDataType.BIGINT.notNull());
    }

    static Condition notNewer(Field<Long> column, Field<Long> token) {
        return column.le(token);
    }

    boolean is(Field<?> field) {
        return field.getName().equalsIgnoreCase(name());
    }

    /** Refuses assignments that the user made to it. */
    void refuseIn(Collection<? extends FieldOrRow> assigned, Object query) {
        for (FieldOrRow target : assigned) {
            if (target instanceof Field<?> field
                    ? is(field)
                    : Stream.of(((Row) target).fields()).anyMatch(this::is)) {
                throw ownAssignment(query);
            }
        }
    }

    NotFenceableException ownAssignment(Object query) {
        return Refused.query(
                query,
                "it assigns the token column " + name() + ", which the fence itself does",
                "Leave the column out; its value is the lease's token");
    }
}
