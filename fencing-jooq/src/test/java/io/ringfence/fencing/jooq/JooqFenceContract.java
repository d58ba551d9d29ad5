package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FenceSchemaException;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.PartiallyFencedException;
import io.ringfence.fencing.TooManyRowsException;
import io.ringfence.fencing.jooq.generated.tables.Invoice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What one query does on every database that row fences work on. */
abstract class JooqFenceContract extends JooqFixture {

    JooqFenceContract(DataSource empty, SQLDialect dialect) {
        super(empty, dialect);
    }

    JooqFenceContract(DataSource empty, SQLDialect dialect, String column) {
        super(empty, dialect, column);
    }

    @Test
    void writesRowAndToken_whenTokenIsHigherOrEqual_andLeavesTheQueryAsItIs() {
        Query query = close(dsl, 1);
        String before = query.getSQL();

        assertThat(fence.execute(token(7), query)).isEqualTo(1);
        assertThat(fence.execute(token(7), query)).isEqualTo(1);

        assertThat(invoices()).containsExactly("1|closed|7", "2|open|5", "3|open|0");
        assertThat(query.getSQL()).isEqualTo(before).doesNotContain("fencing_token");
        assertThat(query.getBindValues()).containsExactly("closed", 1);
    }

    @Test
    void leavesQueriesOfEveryKindAsTheyAre() {
        JooqFence any = fence.expecting(ExpectedRows.unchecked());
        for (Query query : List.of(
                dsl.update(INVOICE).set(INVOICE.STATUS, "x").where(INVOICE.ID.eq(1)),
                dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1)),
                dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS).values(21, "x"),
                dsl.insertInto(INVOICE).values(22, "x", new Money(1), null),
                dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                        .values(23, "x")
                        .values(24, "x"),
                dsl.insertInto(INVOICE, INVOICE.ID).select(dsl.select(DSL.inline(25))))) {
            String before = dsl.renderInlined(query);

            any.execute(token(7), query);
            any.fence(token(7), query);

            assertThat(dsl.renderInlined(query)).isEqualTo(before);
        }
    }

    @Test
    void rejectsWrite_whenTokenIsLower() {
        FencedOutException refusal = refused(4, close(dsl, 1));

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.presented()).isEqualTo(token(4));
        assertThat(refusal.observed()).hasValue(5);
        assertThat(refusal.target()).isEqualTo("table " + (dsl.dialect() == SQLDialect.H2 ? "\"invoice\"" : "invoice"));
        assertThat(refusal.key()).contains("id = 1");
        assertThat(refusal).hasMessageContaining("token 5 of a newer leader");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void deletes_unlessTheRowIsNewerOrMissing() {
        Query delete = dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1));

        assertThat(refused(4, delete).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(fence.execute(token(5), delete)).isEqualTo(1);
        assertThat(refused(5, delete)).isInstanceOf(NoMatchingRowException.class);
        assertThat(dsl.fetchCount(INVOICE)).isEqualTo(2);
    }

    @Test
    void saysNoMatchingRow_andLeavesTheTransactionUsable_whenTheRowIsMissing() {
        dsl.transaction(configuration -> {
            assertThat(refused(9, close(configuration.dsl(), 99))).isInstanceOf(NoMatchingRowException.class);
            fence.execute(token(9), close(configuration.dsl(), 1));
        });

        assertThat(invoice(1)).isEqualTo("closed|9");
    }

    @Test
    void looksBehindAnotherFalseCondition() {
        Query draft = dsl.update(INVOICE)
                .set(INVOICE.STATUS, "closed")
                .where(INVOICE.ID.eq(1))
                .and(INVOICE.STATUS.eq("draft"));

        assertThat(refused(4, draft).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(5, draft).reason()).isEqualTo(Reason.NO_MATCHING_ROW);
    }

    @Test
    void cannotTell_whereTheKeyIsNotInTheCondition() {
        Query named = dsl.update(INVOICE).set(INVOICE.STATUS, "x").where(INVOICE.STATUS.eq("nowhere"));

        assertThat(refused(4, named).reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refused(4, dsl.update(INVOICE).set(INVOICE.STATUS, "x").where(INVOICE.ID.in(1, 98)))
                        .reason())
                .isEqualTo(Reason.SUPERSEDED);
    }

    static final List<Function<DSLContext, Condition>> CONDITIONS = List.of(
            dsl -> INVOICE.ID.eq(1).or(INVOICE.ID.eq(2)),
            dsl -> INVOICE.ID.eq(1).and(INVOICE.STATUS.eq("open")).or(INVOICE.ID.eq(2)),
            dsl -> DSL.not(INVOICE.ID.eq(3)),
            dsl -> DSL.condition("{0} = 1 or {0} = ?", INVOICE.ID, DSL.val(2)).and(INVOICE.ID.lt(3)),
            dsl -> INVOICE.ID.in(dsl.select(DSL.inline(1)).union(dsl.select(DSL.inline(2)))),
            dsl -> DSL.condition("exists ({0})", dsl.selectOne()).and(INVOICE.ID.between(1, 2)),
            dsl -> DSL.case_()
                    .when(INVOICE.ID.lt(3), DSL.inline(1))
                    .else_(DSL.inline(0))
                    .eq(1),
            dsl -> INVOICE.STATUS
                    .eq("open")
                    .and(DSL.row(INVOICE.ID, INVOICE.STATUS).le(2, "open")),
            dsl -> DSL.noCondition().and(INVOICE.ID.le(2)));

    @ParameterizedTest
    @FieldSource("CONDITIONS")
    void aStaleTokenWritesNothing_andAFreshOneWhatTheQuerySays(Function<DSLContext, Condition> condition) {
        JooqFence two = fence.expecting(ExpectedRows.exactly(2));
        Condition built = condition.apply(dsl);
        for (Function<DSLContext, Query> query : List.<Function<DSLContext, Query>>of(
                context -> context.update(INVOICE).set(INVOICE.STATUS, "x").where(built),
                context -> context.deleteFrom(INVOICE).where(built))) {
            assertThat(undone(context -> query.apply(context).execute()))
                    .as("without a fence")
                    .isEqualTo(2);
            assertThat(refused(two, 4, query.apply(dsl)).reason()).isEqualTo(Reason.SUPERSEDED);
            assertThat(undone(context -> two.execute(token(5), query.apply(context))))
                    .isEqualTo(2);
        }
        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    private int undone(Function<DSLContext, Integer> work) {
        List<Integer> rows = new ArrayList<>();
        assertThatThrownBy(() -> dsl.transaction(configuration -> {
                    rows.add(work.apply(configuration.dsl()));
                    throw new IllegalStateException("roll back");
                }))
                .hasMessage("roll back");
        return rows.get(0);
    }

    static final List<Function<DSLContext, Query>> REFUSED = List.of(
            dsl -> dsl.query("update invoice set status = 'x' where id = 1"),
            dsl -> dsl.mergeInto(INVOICE)
                    .using(dsl.selectOne())
                    .on(INVOICE.ID.eq(1))
                    .whenMatchedThenDelete(),
            dsl -> dsl.update(INVOICE)
                    .set(INVOICE.STATUS, "x")
                    .where(INVOICE.ID.eq(1))
                    .orderBy(INVOICE.ID)
                    .limit(1),
            dsl -> dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1)).orderBy(INVOICE.ID),
            dsl -> dsl.update(INVOICE)
                    .set(INVOICE.STATUS, "x")
                    .set(INVOICE.FENCING_TOKEN, 99L)
                    .where(INVOICE.ID.eq(1)),
            dsl -> dsl.update(INVOICE)
                    .set(DSL.row(INVOICE.STATUS, INVOICE.FENCING_TOKEN), DSL.row("x", 99L))
                    .where(INVOICE.ID.eq(1)),
            dsl -> dsl.update(INVOICE)
                    .set(DSL.field("FENCING_TOKEN", Long.class), 99L)
                    .where(INVOICE.ID.eq(1)),
            dsl -> dsl.update(INVOICE).set(DSL.field("status"), (Object) "x").where("id = 1) or (1 = 1"),
            dsl -> dsl.update(INVOICE)
                    .set(INVOICE.STATUS, DSL.field("'x', fencing_token = 99", String.class))
                    .where(INVOICE.ID.eq(1)),
            dsl -> dsl.update(INVOICE).set(INVOICE.STATUS, "x").where("id = 1 returning id --"),
            dsl -> dsl.update(DSL.table("invoice, invoice j"))
                    .set(INVOICE.STATUS, "x")
                    .where(INVOICE.ID.eq(1)),
            dsl -> dsl.insertInto(INVOICE).set(INVOICE.ID, 9).set(INVOICE.FENCING_TOKEN, 99L),
            dsl -> dsl.insertInto(DSL.table(DSL.name("invoice"))).values(9, "x", 1, 99),
            dsl -> dsl.insertInto(INVOICE).select(dsl.selectFrom(INVOICE)),
            dsl -> dsl.select(INVOICE.ID).from(INVOICE),
            dsl -> dsl.truncate(INVOICE),
            dsl -> dsl.dropTable(INVOICE));

    @ParameterizedTest
    @FieldSource("REFUSED")
    void whatCannotBeFenced_isRefusedByName_andDoesNotRun(Function<DSLContext, Query> query) {
        assertThatThrownBy(() -> fence.expecting(ExpectedRows.unchecked()).execute(token(9), query.apply(dsl)))
                .isInstanceOf(NotFenceableException.class)
                .message()
                .contains("\n")
                .contains("SealedTransactions");

        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    @Test
    void insertsWithTheToken_inEveryShapeOfValues() {
        fence.execute(
                token(7), dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS).values(11, "a"));
        fence.execute(token(7), dsl.insertInto(INVOICE).values(12, "b", new Money(1), null));
        fence.execute(token(7), dsl.insertInto(INVOICE).values(13, "c", new Money(1), 0L));
        fence.execute(token(7), dsl.insertInto(INVOICE).set(INVOICE.ID, 14).set(INVOICE.TOTAL, new Money(9)));
        fence.expecting(ExpectedRows.exactly(2))
                .execute(
                        token(7),
                        dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                                .values(15, "e")
                                .values(16, "f"));
        fence.execute(
                token(7),
                dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                        .select(dsl.select(INVOICE.ID.plus(16), INVOICE.STATUS)
                                .from(INVOICE)
                                .where(INVOICE.ID.eq(1))));

        assertThat(invoices()).contains("11|a|7", "12|b|7", "13|c|7", "14|null|7", "15|e|7", "16|f|7", "17|open|7");
        assertThatThrownBy(() -> fence.execute(
                        token(7),
                        dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS).values(1, "a")))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).startsWith("23"));
    }

    @Test
    void keepsConvertersBindingsAndTheOrderOfValues() {
        Field<Money> total = INVOICE.TOTAL;

        fence.execute(
                token(7),
                dsl.update(INVOICE)
                        .set(total, new Money(777))
                        .set(
                                INVOICE.STATUS,
                                DSL.when(INVOICE.ID.eq(1), "it's '?' -- x").otherwise("no"))
                        .where(total.eq(new Money(100)).and(INVOICE.ID.eq(1)).and(INVOICE.STATUS.ne("a"))));

        assertThat(dsl.fetchValue(INVOICE.TOTAL, INVOICE.ID.eq(1))).isEqualTo(new Money(777));
        assertThat(invoice(1)).isEqualTo("it's '?' -- x|7");
    }

    @Test
    void takesAliases() {
        Invoice i = INVOICE.as("i");

        assertThat(fence.execute(token(7), dsl.update(i).set(i.STATUS, "x").where(i.ID.eq(1))))
                .isEqualTo(1);
        assertThat(refused(6, dsl.update(i).set(i.STATUS, "y").where(i.ID.eq(1)))
                        .key())
                .contains("id = 1");
        assertThat(invoice(1)).isEqualTo("x|7");
    }

    @Test
    void takesQueriesThatAreNotBuiltInOneGo_andThoseOfTheParser() {
        var update = dsl.updateQuery(INVOICE);
        update.addValue(INVOICE.STATUS, "built");
        update.addConditions(INVOICE.ID.eq(1));

        assertThat(fence.execute(token(7), update)).isEqualTo(1);
        Query parsed = dsl.parser().parseQuery("update \"invoice\" set \"status\" = 'parsed' where \"id\" = 2");
        assertThat(fence.execute(token(7), parsed)).isEqualTo(1);
        assertThat(invoices()).containsExactly("1|built|7", "2|parsed|7", "3|open|0");
    }

    @Test
    void looksForRowsThatANewerLeaderHolds_whereTheNumberIsOpen() {
        Query all = dsl.update(INVOICE).set(INVOICE.STATUS, "x").where(INVOICE.STATUS.eq("open"));
        Query none = dsl.update(INVOICE).set(INVOICE.STATUS, "x").where(INVOICE.STATUS.eq("nowhere"));

        PartiallyFencedException partial = catchThrowableOfType(
                PartiallyFencedException.class,
                () -> dsl.transaction(configuration -> fence.expecting(ExpectedRows.atLeastOne())
                        .execute(
                                token(4),
                                configuration
                                        .dsl()
                                        .update(INVOICE)
                                        .set(INVOICE.STATUS, "x")
                                        .where(INVOICE.STATUS.eq("open")))));
        assertThat(partial.written()).isEqualTo(1);
        assertThat(partial.skipped()).isEqualTo(2);
        assertThat(fence.expecting(ExpectedRows.any()).execute(token(4), none)).isZero();
        assertThat(fence.expecting(ExpectedRows.any()).execute(token(9), all)).isEqualTo(3);
        assertThat(fence.expecting(ExpectedRows.unchecked()).execute(token(8), none))
                .isZero();
    }

    @Test
    void reportsMoreRowsThanExpected() {
        assertThatThrownBy(() -> dsl.transaction(configuration -> fence.execute(
                        token(7),
                        configuration
                                .dsl()
                                .update(INVOICE)
                                .set(INVOICE.STATUS, "x")
                                .where(INVOICE.ID.in(1, 2)))))
                .isInstanceOf(TooManyRowsException.class);
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void aBatchNamesTheEntriesThatWereRefused() {
        List<Query> queries = List.of(close(dsl, 3), close(dsl, 1), close(dsl, 2));

        assertThatThrownBy(() -> fence.batch(token(4), queries)).isInstanceOf(IllegalStateException.class);
        PartiallyFencedException partial = catchThrowableOfType(
                PartiallyFencedException.class,
                () -> dsl.transaction(configuration -> fence.batch(
                        token(4),
                        close(configuration.dsl(), 3),
                        configuration.dsl().deleteFrom(INVOICE).where(INVOICE.ID.eq(1)),
                        close(configuration.dsl(), 2))));
        assertThat(partial.entries()).containsExactly(1, 2);
        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|open|0");
    }

    @Test
    void aBatchWritesToSeveralTablesWithOneToken() {
        dsl.transaction(configuration -> {
            DSLContext in = configuration.dsl();
            assertThat(fence.batch(
                            token(7),
                            close(in, 1),
                            in.insertInto(PAYMENT, PAYMENT.INVOICE_ID, PAYMENT.VERSION)
                                    .values(1, 1),
                            close(in, 2)))
                    .containsExactly(1, 1, 1);
            assertThat(fence.batch(token(7))).isEmpty();
            assertThatThrownBy(() -> fence.batch(token(7), close(in, 1), in.query("delete from invoice")))
                    .isInstanceOf(NotFenceableException.class);
            assertThatThrownBy(() -> fence.batch(token(7), close(in, 1), close(dsl, 1)))
                    .isInstanceOf(IllegalArgumentException.class);
        });
        assertThat(invoices()).containsExactly("1|closed|7", "2|closed|7", "3|open|0");
        assertThat(dsl.fetchValue(PAYMENT.FENCING_TOKEN)).isEqualTo(7);
    }

    @Test
    void showsTheFencedQuery_whichCanBeRun_andBoundInABatch() {
        Query shown = fence.fence(token(4), close(dsl, 1));

        assertThat(shown.getSQL()).contains("fencing_token").contains("4");
        assertThat(shown.getBindValues()).containsExactly("closed", 1);
        assertThat(shown.execute()).isZero();
        assertThat(dsl.batch(shown).bind("a", 1).bind("b", 2).bind("c", 3).execute())
                .containsExactly(0, 0, 1);
        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|c|4");
    }

    @Test
    void listenersSeeTheFencedText_andMayChangeIt_butNotEscape() {
        List<String> seen = new ArrayList<>();
        DSLContext listening = with(new ExecuteListener() {
            @Override
            public void executeStart(ExecuteContext context) {
                seen.add(String.valueOf(context.sql()));
            }

            @Override
            public void prepareStart(ExecuteContext context) {
                context.sql(context.sql() + " /* hint */");
            }
        });
        DSLContext meddling = with(new ExecuteListener() {
            @Override
            public void prepareStart(ExecuteContext context) {
                context.sql(context.sql() + " or 1 = 1");
            }
        });

        fence.execute(token(7), close(listening, 1));
        assertThat(seen).singleElement().asString().contains("fencing_token").endsWith("/* hint */");
        assertThatThrownBy(() -> fence.execute(token(4), close(meddling, 2))).isInstanceOf(NotFenceableException.class);
        assertThat(invoices()).containsExactly("1|closed|7", "2|open|5", "3|open|0");
    }

    private DSLContext with(ExecuteListener listener) {
        return DSL.using(dsl.configuration().derive(() -> listener));
    }

    @Test
    void asksTheLeaseBeforeAnySqlIsSent() {
        FencingTokenSource lost = () -> {
            throw new LeaseLostException("invoices", token(7), LossReason.DEADLINE_EXCEEDED);
        };

        assertThatThrownBy(() -> fence.execute(lost, close(dsl, 1))).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> fence.batch(lost, close(dsl, 1))).isInstanceOf(LeaseLostException.class);
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void namesTheDdl_whenTheColumnIsMissing() {
        assertThatThrownBy(() -> JooqFence.onColumn("other").execute(token(7), close(dsl, 1)))
                .isInstanceOf(FenceSchemaException.class)
                .hasMessageContaining("ADD COLUMN IF NOT EXISTS");
    }

    @Test
    void aMergeIsFencedByHand() {
        Query merge = dsl.mergeInto(INVOICE)
                .using(dsl.select(DSL.inline(1).as("id")).asTable("s"))
                .on(INVOICE.ID.eq(DSL.field(DSL.name("s", "id"), Integer.class)))
                .whenMatchedAnd(fence.condition(token(4), INVOICE))
                .thenUpdate()
                .set(INVOICE.STATUS, "merged")
                .set(fence.assignment(token(4)));

        assertThatThrownBy(() -> fence.execute(token(4), merge))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("JooqFence.condition");
        if (dsl.dialect() != SQLDialect.MARIADB) {
            assertThat(merge.execute()).isZero();
        }
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void returnsRows_orRefusesWhatTheDialectCannotReturn() {
        var delete = dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(1)).returning(INVOICE.TOTAL);
        var insert = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(9, "x")
                .returningResult(INVOICE.ID, INVOICE.FENCING_TOKEN);

        assertThatThrownBy(() -> fence.fetch(token(4), delete))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(fence.fetch(token(7), delete).getValues(INVOICE.TOTAL)).containsExactly(new Money(100));
        assertThat(fence.fetch(token(7), insert).get(0).intoList()).containsExactly(9, 7L);
        assertThat(fence.execute(
                        token(7),
                        dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(3)).returning()))
                .isEqualTo(1);
        assertThatThrownBy(() -> fence.fetch(token(7), dsl.selectFrom(INVOICE)))
                .isInstanceOf(NotFenceableException.class);
    }
}
