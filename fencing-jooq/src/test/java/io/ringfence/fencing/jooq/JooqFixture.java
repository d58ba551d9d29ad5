package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FencedOutException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jooq.DSLContext;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;

/** Three invoices, two of them written with token 5 and one with none, in the database that a subclass brings. */
abstract class JooqFixture {
    final JooqFence fence;
    final DataSource dataSource;
    final DSLContext dsl;

    JooqFixture(DataSource empty, SQLDialect dialect) {
        this(empty, dialect, "\"fencing_token\"");
    }

    JooqFixture(DataSource empty, SQLDialect dialect, String column) {
        fence = JooqFence.onColumn(column);
        dataSource = empty;
        dsl = DSL.using(empty, dialect);
    }

    static DataSource h2() {
        JdbcDataSource empty = new JdbcDataSource();
        empty.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
        return empty;
    }

    @BeforeEach
    void tables() {
        for (Query create : List.of(dsl.ddl(INVOICE).queries())) {
            create.execute();
        }
        for (Query create : List.of(dsl.ddl(PAYMENT).queries())) {
            create.execute();
        }
        dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS, INVOICE.TOTAL, INVOICE.FENCING_TOKEN)
                .values(1, "open", new Money(100), 5L)
                .values(2, "open", new Money(200), 5L)
                .values(3, "open", new Money(300), 0L)
                .execute();
    }

    static FencingToken token(long value) {
        return new FencingToken(value);
    }

    String invoice(int id) {
        return dsl.select(INVOICE.STATUS, INVOICE.FENCING_TOKEN)
                .from(INVOICE)
                .where(INVOICE.ID.eq(id))
                .fetchOptional(row -> row.value1() + "|" + row.value2())
                .orElse("none");
    }

    List<String> invoices() {
        return dsl.selectFrom(INVOICE)
                .orderBy(INVOICE.ID)
                .fetch()
                .map(row -> row.getId() + "|" + row.getStatus() + "|" + row.getFencingToken());
    }

    static Query close(DSLContext context, int id) {
        return context.update(INVOICE).set(INVOICE.STATUS, "closed").where(INVOICE.ID.eq(id));
    }

    FencedOutException refused(long token, Query query) {
        return refused(fence, token, query);
    }

    static FencedOutException refused(JooqFence by, long token, Query query) {
        return catchThrowableOfType(FencedOutException.class, () -> by.execute(token(token), query));
    }
}
