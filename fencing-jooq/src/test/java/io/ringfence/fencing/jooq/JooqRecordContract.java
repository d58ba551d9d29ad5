package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.jooq.generated.tables.records.InvoiceRecord;
import io.ringfence.fencing.jooq.generated.tables.records.PaymentRecord;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.RecordContext;
import org.jooq.RecordListener;
import org.jooq.RecordListenerProvider;
import org.jooq.SQLDialect;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.exception.DataAccessException;
import org.jooq.exception.DataChangedException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** What becomes of records on every database that row fences work on. */
abstract class JooqRecordContract extends JooqFixture {

    JooqRecordContract(DataSource empty, SQLDialect dialect, String column) {
        super(empty, dialect, column);
    }

    private InvoiceRecord loaded(int id) {
        return dsl.fetchSingle(INVOICE, INVOICE.ID.eq(id));
    }

    @Test
    void insertsANewRecord_withItsGeneratedKeyAndOurToken() {
        PaymentRecord payment = dsl.newRecord(PAYMENT);
        payment.setInvoiceId(1);

        assertThat(fence.store(token(7), payment)).isEqualTo(1);

        assertThat(payment.getId()).isNotNull();
        assertThat(payment.getFencingToken()).isEqualTo(7);
        assertThat(payment.changed()).isFalse();
        assertThat(payment.getVersion()).as("jOOQ's version").isEqualTo(1);
        PaymentRecord stored = dsl.fetchSingle(PAYMENT, PAYMENT.ID.eq(payment.getId()));
        assertThat(stored.getFencingToken()).isEqualTo(7);
        assertThat(stored.getNote()).isEqualTo("none");
    }

    @Test
    void updatesWhatHasChanged_andNothingElse() {
        InvoiceRecord record = loaded(1);
        dsl.update(INVOICE)
                .set(INVOICE.TOTAL, new Money(1))
                .where(INVOICE.ID.eq(1))
                .execute();
        record.setStatus("closed");

        assertThat(fence.store(token(7), record)).isEqualTo(1);

        assertThat(record.changed()).isFalse();
        assertThat(record.getFencingToken()).isEqualTo(7);
        assertThat(loaded(1).getTotal()).isEqualTo(new Money(1));
        assertThat(invoices()).containsExactly("1|closed|7", "2|open|5", "3|open|0");
        assertThat(fence.update(token(7), record)).as("nothing has changed").isZero();
        record.setStatus("again");
        assertThat(fence.update(token(8), record)).isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("again|8");
    }

    @Test
    void rejectsAStaleRecord_whichStaysChanged_andOneWhoseRowIsGone() {
        InvoiceRecord record = loaded(1);
        record.setStatus("stale");

        FencedOutException refusal =
                catchThrowableOfType(FencedOutException.class, () -> fence.store(token(4), record));
        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal.observed()).hasValue(5);
        assertThat(record.changed()).isTrue();
        assertThat(record.getFencingToken()).isEqualTo(5);
        assertThat(record.configuration()).isSameAs(dsl.configuration());
        assertThatThrownBy(() -> fence.delete(token(4), record)).isInstanceOf(FencedOutException.class);
        assertThat(invoice(1)).isEqualTo("open|5");

        dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1)).execute();
        assertThatThrownBy(() -> fence.store(token(9), record)).isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> fence.delete(token(9), record)).isInstanceOf(NoMatchingRowException.class);
    }

    @Test
    void withoutTheFence_aStaleRecordIsStored() {
        InvoiceRecord record = loaded(1);
        fence.execute(token(7), close(dsl, 1));
        record.setStatus("stale");

        assertThat(record.store()).isEqualTo(1);
        assertThat(invoice(1)).as("the lost update").isEqualTo("stale|7");
    }

    @Test
    void deletes() {
        assertThat(fence.delete(token(5), loaded(1))).isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("none");
    }

    @Test
    void insertsARecordOfOnesOwn_andPassesADuplicateKeyOn() {
        InvoiceRecord record = dsl.newRecord(INVOICE);
        record.from(new Object[] {9, "new", 5L, 0L});

        assertThat(fence.insert(token(7), record)).isEqualTo(1);
        assertThat(invoice(9)).isEqualTo("new|7");
        InvoiceRecord twice = dsl.newRecord(INVOICE);
        twice.setId(9);
        assertThatThrownBy(() -> fence.insert(token(7), twice))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).startsWith("23"));
    }

    @Test
    void refusesATokenOfTheUsersOwn() {
        InvoiceRecord record = loaded(1);
        record.setFencingToken(99L);

        assertThatThrownBy(() -> fence.store(token(7), record))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("assigns the token column");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    private DSLContext locking() {
        return DSL.using(dsl.configuration().derive(new Settings().withExecuteWithOptimisticLocking(true)));
    }

    @Test
    void keepsOptimisticLocking_byVersion() {
        PaymentRecord first = locking().newRecord(PAYMENT);
        first.setInvoiceId(1);
        fence.store(token(5), first);
        PaymentRecord second = locking().fetchSingle(PAYMENT);
        first.setNote("first");
        second.setNote("second");

        assertThat(fence.store(token(5), first)).isEqualTo(1);
        assertThat(first.getVersion()).isEqualTo(2);
        assertThatThrownBy(() -> fence.store(token(5), second)).isInstanceOf(DataChangedException.class);
        assertThatThrownBy(() -> fence.delete(token(5), second)).isInstanceOf(DataChangedException.class);
        assertThatThrownBy(() -> fence.store(token(4), second))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(dsl.fetchValue(PAYMENT.NOTE)).isEqualTo("first");
    }

    @Test
    void keepsOptimisticLocking_byComparison() {
        InvoiceRecord record = locking().fetchSingle(INVOICE, INVOICE.ID.eq(3));
        record.setStatus("mine");

        assertThat(fence.store(token(5), record)).isEqualTo(1);
        dsl.update(INVOICE)
                .set(INVOICE.STATUS, "theirs")
                .where(INVOICE.ID.eq(3))
                .execute();
        record.setStatus("mine again");
        assertThatThrownBy(() -> fence.store(token(5), record)).isInstanceOf(DataChangedException.class);
        assertThat(invoice(3)).isEqualTo("theirs|5");
    }

    @Test
    void keepsRecordListeners_whoseOwnWritesAreTheirs() {
        List<String> seen = new ArrayList<>();
        DSLContext listening =
                DSL.using(dsl.configuration().derive((RecordListenerProvider) () -> new RecordListener() {
                    @Override
                    public void updateEnd(RecordContext context) {
                        seen.add(context.record().get(INVOICE.STATUS));
                        context.dsl()
                                .insertInto(PAYMENT, PAYMENT.INVOICE_ID, PAYMENT.VERSION)
                                .values(1, 1)
                                .execute();
                    }
                }));
        InvoiceRecord record = listening.fetchSingle(INVOICE, INVOICE.ID.eq(1));
        record.setStatus("heard");

        fence.store(token(7), record);

        assertThat(seen).containsExactly("heard");
        assertThat(dsl.fetchCount(PAYMENT)).isEqualTo(1);
        assertThat(invoice(1)).isEqualTo("heard|7");
    }

    @Test
    void keepsSettings() {
        for (Settings settings : List.of(
                new Settings().withStatementType(StatementType.STATIC_STATEMENT),
                new Settings().withReturnAllOnUpdatableRecord(dsl.dialect() != SQLDialect.MARIADB),
                new Settings().withRenderFormatted(true))) {
            InvoiceRecord record =
                    DSL.using(dsl.configuration().derive(settings)).fetchSingle(INVOICE, INVOICE.ID.eq(2));
            record.setStatus("it's " + settings.hashCode());

            assertThat(fence.store(token(7), record)).isEqualTo(1);
            record.setStatus("stale");
            assertThatThrownBy(() -> fence.store(token(6), record)).isInstanceOf(FencedOutException.class);
            assertThat(invoice(2)).isEqualTo("it's " + settings.hashCode() + "|7");
        }
    }
}
