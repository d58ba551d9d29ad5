package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.UnfencedWriteException;
import io.ringfence.fencing.jooq.generated.tables.records.InvoiceRecord;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** A configuration that refuses writes which come without a fence. */
abstract class SafetyNetContract extends JooqFixture {
    private final DSLContext netted;

    SafetyNetContract(DataSource empty, SQLDialect dialect, String column) {
        super(empty, dialect, column);
        netted = DSL.using(dsl.configuration().derive(fence.safetyNet("invoice")));
    }

    static final List<Consumer<DSLContext>> WRITES = List.of(
            dsl -> close(dsl, 1).execute(),
            dsl -> dsl.deleteFrom(INVOICE).execute(),
            dsl -> dsl.insertInto(INVOICE).set(INVOICE.ID, 9).execute(),
            dsl -> dsl.execute("update invoice set status = 'x'"),
            dsl -> dsl.query("delete from {0}", INVOICE).execute(),
            dsl -> dsl.fetch("select 1; update invoice set status = 'x'"),
            dsl -> dsl.batch(close(dsl, 1), close(dsl, 2)).execute(),
            dsl -> dsl.batch("update invoice set status = 'x'").execute(),
            dsl -> dsl.batch(dsl.update(INVOICE)
                            .set(INVOICE.STATUS, (String) null)
                            .where(INVOICE.ID.eq((Integer) null)))
                    .bind("x", 1)
                    .bind("x", 2)
                    .execute(),
            dsl -> {
                InvoiceRecord record = dsl.fetchSingle(INVOICE, INVOICE.ID.eq(1));
                record.setStatus("x");
                record.store();
            },
            dsl -> dsl.fetchSingle(INVOICE, INVOICE.ID.eq(1)).delete(),
            dsl -> dsl.batchDelete(dsl.fetchSingle(INVOICE, INVOICE.ID.eq(1))).execute(),
            dsl -> dsl.transaction(
                    configuration -> close(configuration.dsl(), 1).execute()),
            dsl -> dsl.queries(close(dsl, 1)).executeBatch(),
            dsl -> dsl.truncate(INVOICE).execute(),
            dsl -> dsl.mergeInto(INVOICE)
                    .using(dsl.select(DSL.inline(1).as("id")).asTable("s"))
                    .on(INVOICE.ID.eq(DSL.field(DSL.name("s", "id"), Integer.class)))
                    .whenMatchedThenUpdate()
                    .set(INVOICE.STATUS, "x")
                    .execute());

    @ParameterizedTest
    @FieldSource("WRITES")
    void refusesWhatIsNotFenced_whateverPathItTakes(Consumer<DSLContext> write) {
        if (dsl.dialect() != SQLDialect.MARIADB || WRITES.indexOf(write) < WRITES.size() - 1) {
            assertThatThrownBy(() -> write.accept(netted))
                    .isInstanceOfSatisfying(
                            UnfencedWriteException.class,
                            e -> assertThat(e.table()).isEqualTo("invoice"))
                    .hasMessageContaining("JooqFence");
        }
        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    @Test
    void passesWhatIsFenced_orAboutOtherTables() {
        assertThat(fence.execute(token(7), close(netted, 1))).isEqualTo(1);
        InvoiceRecord record = netted.fetchSingle(INVOICE, INVOICE.ID.eq(2));
        record.setStatus("stored");
        assertThat(fence.store(token(7), record)).isEqualTo(1);
        netted.transaction(configuration -> assertThat(
                        fence.batch(token(7), close(configuration.dsl(), 1), close(configuration.dsl(), 3)))
                .containsExactly(1, 1));
        assertThat(fence.fence(token(8), close(netted, 1)).execute()).isEqualTo(1);

        assertThatCode(() -> {
                    netted.insertInto(PAYMENT, PAYMENT.INVOICE_ID, PAYMENT.VERSION)
                            .select(netted.select(INVOICE.ID, DSL.inline(1)).from(INVOICE))
                            .execute();
                    netted.selectFrom(INVOICE).forUpdate().fetch();
                    netted.update(PAYMENT).set(PAYMENT.NOTE, "x").execute();
                })
                .doesNotThrowAnyException();
        assertThat(invoices()).containsExactly("1|closed|8", "2|stored|7", "3|closed|7");
    }

    @Test
    void passesAMergeThatComparesTheToken() {
        if (dsl.dialect() != SQLDialect.MARIADB) {
            assertThat(netted.mergeInto(INVOICE)
                            .using(netted.select(DSL.inline(1).as("id")).asTable("s"))
                            .on(INVOICE.ID.eq(DSL.field(DSL.name("s", "id"), Integer.class)))
                            .whenMatchedAnd(fence.condition(token(7), INVOICE))
                            .thenUpdate()
                            .set(INVOICE.STATUS, "merged")
                            .set(fence.assignment(token(7)))
                            .execute())
                    .isEqualTo(1);
            assertThat(invoice(1)).isEqualTo("merged|7");
        }
    }
}
