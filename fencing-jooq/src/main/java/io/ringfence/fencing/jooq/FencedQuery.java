package io.ringfence.fencing.jooq;

import io.ringfence.fencing.NotFenceableException;
import java.util.List;
import org.jooq.Configuration;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.ResultQuery;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.UniqueKey;
import org.jooq.conf.ExecuteWithoutWhere;
import org.jooq.conf.Settings;
import org.jooq.impl.QOM;

/**
 * A finished query of jOOQ that can be fenced.
 *
 * <p>The rewriting goes through jOOQ's object model, so that bind values keep their bindings and converters, and makes a
 * copy. What jOOQ renders of it is held against the grammar that plain JDBC statements go through, see {@link FenceCheck}.
 *
 * @param query the query, as the user made it
 * @param write what it writes
 */
record FencedQuery(Query query, WriteModel write) {

    static FencedQuery of(Query query, Configuration configuration, TokenColumn column, List<String> keys) {
        FencedQuery fenced = new FencedQuery(query, write(query, configuration, column, keys));
        fenced.requireWhere(configuration.settings());
        return fenced;
    }

    private static WriteModel write(Query query, Configuration configuration, TokenColumn column, List<String> keys) {
        if (query instanceof QOM.Update<?> update) {
            return ConditionedWrite.of(update, column, keys(update.$table(), keys));
        }
        if (query instanceof QOM.Delete<?> delete) {
            return ConditionedWrite.of(delete, column, keys(delete.$from(), keys));
        }
        if (query instanceof QOM.Insert<?> insert) {
            return InsertWrite.of(insert, column, keys(insert.$into(), keys), configuration.family());
        }
        if (query instanceof QOM.UpdateReturning<?> returning) {
            if (configuration.family() == SQLDialect.MARIADB) {
                throw Refused.query(
                        query,
                        "MariaDB does not return what it updates, and jOOQ writes something else for it",
                        "Run the UPDATE by execute(..), then read");
            }
            return write(returning.$update(), configuration, column, keys);
        }
        if (query instanceof QOM.DeleteReturning<?> returning) {
            return write(returning.$delete(), configuration, column, keys);
        }
        if (query instanceof QOM.InsertReturning<?> returning) {
            return write(returning.$insert(), configuration, column, keys);
        }
        throw refusal(query);
    }

    private static NotFenceableException refusal(Query query) {
        String kind = query.getClass().getSimpleName();
        if (kind.startsWith("Merge")) {
            return Refused.query(
                    query,
                    "a MERGE has several places for a fence",
                    "Put JooqFence.condition into each WHEN MATCHED and JooqFence.assignment into what it sets, and"
                            + " check the count yourself; or use INSERT .. ON CONFLICT DO UPDATE");
        }
        if (kind.startsWith("SQL")) {
            return Refused.query(
                    query,
                    "it is plain SQL, which jOOQ does not understand",
                    "Build it with jOOQ's DSL, or let DSLContext.parser() read it, or hand the text to RowFence");
        }
        return Refused.query(
                query, "it is no UPDATE, DELETE or INSERT (" + kind + ")", "Pass one that is built with jOOQ's DSL");
    }

    /** The declared key, else what generated tables know. */
    private static List<String> keys(Table<?> table, List<String> declared) {
        UniqueKey<?> primary = table.getPrimaryKey();
        return !declared.isEmpty() || primary == null ? declared : names(primary.getFieldsArray());
    }

    private static List<String> names(Field<?>[] fields) {
        String[] names = new String[fields.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = fields[i].getName();
        }
        return List.of(names);
    }

    /** The fence adds a WHERE, which would hide from jOOQ that the query has none. */
    private void requireWhere(Settings settings) {
        if (write instanceof ConditionedWrite conditioned && conditioned.isWithoutWhere()) {
            ExecuteWithoutWhere without = conditioned.isUpdate()
                    ? settings.getExecuteUpdateWithoutWhere()
                    : settings.getExecuteDeleteWithoutWhere();
            if (without == ExecuteWithoutWhere.THROW) {
                throw new NotFenceableException("jOOQ's settings refuse a query without WHERE, and this one has none: "
                        + query + "\nName the row in its WHERE");
            }
        }
    }

    boolean isReturning() {
        return query instanceof ResultQuery<?>;
    }

    /** A copy with the fence, which returns what the query returns. */
    Query fenced(Field<Long> token) {
        Query fenced = write.fenced(token);
        if (query instanceof QOM.UpdateReturning<?> returning) {
            return returning.$update((QOM.Update<?>) fenced);
        }
        if (query instanceof QOM.DeleteReturning<?> returning) {
            return returning.$delete((QOM.Delete<?>) fenced);
        }
        if (query instanceof QOM.InsertReturning<?> returning) {
            return returning.$insert((QOM.Insert<?>) fenced);
        }
        return fenced;
    }
}
