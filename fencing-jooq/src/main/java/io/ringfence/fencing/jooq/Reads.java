package io.ringfence.fencing.jooq;

import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.RowWrite.Found;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record3;
import org.jooq.ResultQuery;
import org.jooq.SelectConditionStep;
import org.jooq.SelectSelectStep;
import org.jooq.Table;
import org.jooq.WithStep;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/** Reads that explain what a write did not do, on the connection of the write. */
final class Reads {
    private static final int PATIENCE_SECONDS = 2;

    private final Configuration configuration;
    private final Dialect dialect;

    Reads(Configuration configuration, Dialect dialect) {
        this.configuration = configuration;
        this.dialect = dialect;
    }

    Found read(Table<?> target, QOM.@Nullable With with, Field<Boolean> matching, Condition rows, Field<Long> token) {
        SelectConditionStep<Record3<Integer, Long, Boolean>> read =
                start(with, matching, token).from(target).where(rows);
        // a plain read of MariaDB sees the past
        ResultQuery<Record3<Integer, Long, Boolean>> query =
                dialect == Dialect.MARIADB ? read.forShare().wait(PATIENCE_SECONDS) : read;
        Record3<Integer, Long, Boolean> found = query.fetchSingle();
        return new Found(found.value1(), found.value2(), Boolean.TRUE.equals(found.value3()));
    }

    private SelectSelectStep<Record3<Integer, Long, Boolean>> start(
            QOM.@Nullable With with, Field<Boolean> matching, Field<Long> token) {
        DSLContext dsl = DSL.using(configuration);
        if (with == null) {
            return dsl.select(DSL.count(), DSL.max(token), matching);
        }
        WithStep reach = with.$recursive()
                ? dsl.withRecursive(with.$commonTableExpressions())
                : dsl.with(with.$commonTableExpressions());
        return reach.select(DSL.count(), DSL.max(token), matching);
    }
}
