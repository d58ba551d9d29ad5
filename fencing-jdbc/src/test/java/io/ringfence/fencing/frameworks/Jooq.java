package io.ringfence.fencing.frameworks;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.UpdateConditionStep;
import org.jooq.impl.DSL;

/** jOOQ: its own transactions, which nest by savepoints. */
final class Jooq implements Framework {
    private static final Table<Record> INVOICE = table(name("invoice"));
    private static final Field<Integer> ID = field(name("id"), Integer.class);
    private static final Field<String> STATUS = field(name("status"), String.class);
    private static final Field<Integer> CANCELS = field(name("cancels"), Integer.class);

    private final DSLContext dsl;

    Jooq(DataSource dataSource) {
        dsl = DSL.using(dataSource, SQLDialect.POSTGRES);
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        dsl.transaction(configuration -> work.accept(new InTransaction(configuration.dsl())));
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        dsl.transaction(configuration -> {
            configuration.dsl().connection(connection -> connection.setReadOnly(true));
            work.accept(new InTransaction(configuration.dsl()));
        });
    }

    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        work.accept(new InTransaction(dsl));
    }

    @Override
    public void close() {
        // holds nothing
    }

    private record InTransaction(DSLContext dsl) implements Invoices {

        @Override
        public String status(int id) {
            return dsl.select(STATUS).from(INVOICE).where(ID.eq(id)).fetchOne(STATUS);
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            dsl.insertInto(INVOICE, ID, STATUS, CANCELS)
                    .values(id, status, cancels)
                    .execute();
        }

        @Override
        public void update(int id, String status) {
            update(status).apply(id).execute();
        }

        private Function<Integer, UpdateConditionStep<Record>> update(String status) {
            return id -> dsl.update(INVOICE).set(STATUS, status).where(ID.eq(id));
        }

        @Override
        public void updateAll(List<Integer> ids, String status) {
            dsl.batch(ids.stream().map(update(status)).toList()).execute();
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            dsl.transaction(configuration -> work.accept(new InTransaction(configuration.dsl())));
        }

        /** jOOQ lends its connection for a while; in a transaction it is the same one all the time. */
        @Override
        public Connection connection() {
            return dsl.configuration().connectionProvider().acquire();
        }
    }
}
