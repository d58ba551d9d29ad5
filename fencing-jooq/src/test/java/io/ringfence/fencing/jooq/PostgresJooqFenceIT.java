package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Queries on PostgreSQL, with what only PostgreSQL has. */
@ExtendWith(SharedServers.class)
class PostgresJooqFenceIT extends JooqFenceContract {

    PostgresJooqFenceIT(PostgresDatabase empty) {
        super(empty.dataSource(), SQLDialect.POSTGRES);
    }

    @Test
    void cannotTell_whenATriggerSkipsTheRow() {
        dsl.execute("CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
        dsl.execute("CREATE TRIGGER skip BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION skip()");

        assertThat(refused(7, close(dsl, 1)).reason()).isEqualTo(Reason.UNKNOWN);
    }

    @Test
    void neverSaysSuperseded_whenRowLevelSecurityHidesTheRow() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            DSLContext clerk = DSL.using(connection, SQLDialect.POSTGRES);
            String role = "clerk_" + connection.getCatalog();
            dsl.execute("ALTER TABLE invoice ENABLE ROW LEVEL SECURITY");
            dsl.execute("CREATE POLICY reading ON invoice FOR SELECT USING (id <> 3)");
            dsl.execute("CREATE POLICY writing ON invoice FOR UPDATE USING (id = 1)");
            dsl.execute("CREATE ROLE " + role);
            dsl.execute("GRANT ALL ON invoice TO " + role);
            clerk.execute("SET ROLE " + role);

            assertThat(fence.execute(token(7), close(clerk, 1))).isEqualTo(1);
            assertThat(refused(7, close(clerk, 2)).reason()).isEqualTo(Reason.UNKNOWN);
            assertThat(refused(7, close(clerk, 3)).reason()).isEqualTo(Reason.NO_MATCHING_ROW);
        }
    }

    @Test
    void refusesAView() {
        dsl.execute("CREATE VIEW bills AS SELECT * FROM invoice");

        assertThatThrownBy(() -> fence.execute(
                        token(9), dsl.update(DSL.table(DSL.name("bills"))).set(INVOICE.STATUS, "x")))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("only the token of a table's own rows can be trusted");
    }

    private Query joined(int id) {
        return dsl.update(INVOICE)
                .set(INVOICE.STATUS, PAYMENT.NOTE)
                .from(PAYMENT)
                .where(PAYMENT.INVOICE_ID.eq(INVOICE.ID))
                .and(INVOICE.ID.eq(id));
    }

    @Test
    void fencesTheTarget_besideASecondTableThatHasATokenToo() {
        dsl.insertInto(PAYMENT, PAYMENT.INVOICE_ID, PAYMENT.NOTE, PAYMENT.VERSION, PAYMENT.FENCING_TOKEN)
                .values(1, "paid", 1, 0L)
                .values(2, "paid", 1, 99L)
                .execute();

        assertThat(refused(4, joined(1)).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(4, joined(1)).key()).contains("id = 1");
        assertThat(refused(9, joined(3))).isInstanceOf(NoMatchingRowException.class);
        assertThat(fence.execute(token(7), joined(2))).isEqualTo(1);
        assertThat(invoices()).containsExactly("1|open|5", "2|paid|7", "3|open|0");

        var i = INVOICE.as("i");
        var using = dsl.deleteFrom(i)
                .using(PAYMENT)
                .where(PAYMENT.INVOICE_ID.eq(i.ID))
                .and(i.ID.eq(1));
        assertThat(refused(4, using).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(fence.execute(token(7), using)).isEqualTo(1);
    }

    @Test
    void takesAWithThatReads_andNoneThatWrites() {
        var chosen = DSL.name("chosen").as(dsl.select(DSL.inline(1).as("id")));
        Query reading = dsl.with(chosen)
                .update(INVOICE)
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.ID.in(
                        dsl.select(chosen.field("id", Integer.class)).from(chosen)));
        Query writing = dsl.with(DSL.name("w")
                        .as(dsl.deleteFrom(INVOICE).where(INVOICE.ID.eq(2)).returning(INVOICE.ID)))
                .update(INVOICE)
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.ID.eq(1));

        assertThat(refused(4, reading).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(fence.execute(token(7), reading)).isEqualTo(1);
        assertThatThrownBy(() -> fence.execute(token(9), writing)).isInstanceOf(NotFenceableException.class);
        assertThat(invoices()).containsExactly("1|x|7", "2|open|5", "3|open|0");
    }

    @Test
    void takesRowsOver_onConflict_unlessANewerLeaderHoldsThem() {
        Query upsert = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(1, "new")
                .onConflict(INVOICE.ID)
                .doUpdate()
                .set(INVOICE.STATUS, DSL.excluded(INVOICE.STATUS));
        Query all = dsl.insertInto(INVOICE)
                .values(2, "all", new Money(2), null)
                .onConflict(INVOICE.ID)
                .doUpdate()
                .setAllToExcluded();
        Query named = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(9, "new")
                .onConflictOnConstraint(DSL.name("invoice_pkey"))
                .doUpdate()
                .set(INVOICE.STATUS, "again")
                .where(INVOICE.STATUS.eq("new"));
        Query duplicate = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(3, "dup")
                .onDuplicateKeyUpdate()
                .set(INVOICE.STATUS, "dup");

        String before = dsl.renderInlined(upsert) + dsl.renderInlined(all) + dsl.renderInlined(named);
        assertThat(refused(4, upsert).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(4, upsert).key()).contains("id = 1");
        assertThat(refused(4, all).reason()).isEqualTo(Reason.SUPERSEDED);
        fence.execute(token(7), upsert);
        fence.execute(token(7), all);
        fence.execute(token(7), named);
        fence.execute(token(8), named);
        fence.execute(token(7), duplicate);
        assertThat(refused(9, named).reason())
                .as("jOOQ does not tell which columns the constraint has")
                .isEqualTo(Reason.UNKNOWN);

        assertThat(dsl.renderInlined(upsert) + dsl.renderInlined(all) + dsl.renderInlined(named))
                .isEqualTo(before);
        assertThat(invoices()).containsExactly("1|new|7", "2|all|7", "3|dup|7", "9|again|8");
        assertThatThrownBy(() -> fence.execute(
                        token(9),
                        dsl.insertInto(INVOICE, INVOICE.ID)
                                .values(1)
                                .onConflict(INVOICE.ID)
                                .doUpdate()
                                .set(INVOICE.FENCING_TOKEN, 99L)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("assigns the token column");
    }

    @Test
    void anUpsertThatMeetsANewerRowByAnotherKey_isNotTakenForOneWithoutAMatch() {
        dsl.execute("UPDATE invoice SET status = 's' || id");
        dsl.execute("ALTER TABLE invoice ADD CONSTRAINT one_status UNIQUE (status)");
        var insert = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS).values(9, "s1");
        List<Query> queries = List.of(
                insert.onConflict(INVOICE.STATUS).doUpdate().set(INVOICE.STATUS, "s1"),
                insert.onConflict(INVOICE.STATUS)
                        .doUpdate()
                        .set(INVOICE.STATUS, "s1")
                        .where(INVOICE.TOTAL.gt(new Money(0))),
                insert.onConflict(INVOICE.STATUS).doNothing(),
                insert.onConflictDoNothing());

        for (int i = 0; i < queries.size(); i++) {
            Query query = queries.get(i);
            assertThat(refused(4, query).reason()).as("query " + i).isEqualTo(Reason.UNKNOWN);
            assertThatThrownBy(() -> fence.expecting(ExpectedRows.any()).execute(token(4), query))
                    .isInstanceOf(NotFenceableException.class);
        }
        assertThat(invoice(1)).isEqualTo("s1|5");
    }

    @Test
    void explainsAnInsertThatDidNothing() {
        Query insert = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(1, "new")
                .onConflictDoNothing();

        assertThat(refused(4, insert).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refused(9, insert)).isInstanceOf(NoMatchingRowException.class);
    }

    @Test
    void returnsUpdatedRows_andCountsThem() {
        var update = dsl.update(INVOICE)
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.ID.eq(1))
                .returning();

        assertThatThrownBy(() -> fence.fetch(token(4), update)).isInstanceOf(FencedOutException.class);
        var row = fence.fetch(token(7), update).get(0);
        assertThat(row.getFencingToken()).isEqualTo(7);
        assertThat(row.getTotal()).isEqualTo(new Money(100));
        assertThatThrownBy(() -> fence.fetch(token(7), update.coerce(PAYMENT)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("coerce");
        var collecting = dsl.updateQuery(INVOICE);
        collecting.addValue(INVOICE.STATUS, "y");
        collecting.addConditions(INVOICE.ID.eq(1));
        collecting.setReturning();
        assertThatThrownBy(() -> fence.execute(token(7), collecting))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("fetch");
        assertThat(invoice(1)).isEqualTo("x|7");
    }

    @Test
    void keepsSettings() {
        Settings mapped = new Settings()
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("").withOutput("public")));
        for (Settings settings : new Settings[] {
            mapped,
            new Settings().withRenderQuotedNames(RenderQuotedNames.NEVER),
            new Settings().withStatementType(StatementType.STATIC_STATEMENT),
            new Settings().withRenderFormatted(true)
        }) {
            DSLContext with = DSL.using(dsl.configuration().derive(settings));

            assertThat(fence.execute(token(7), close(with, 1))).isEqualTo(1);
            assertThat(refused(4, close(with, 1)).reason()).isEqualTo(Reason.SUPERSEDED);
            assertThat(refused(7, close(with, 99))).isInstanceOf(NoMatchingRowException.class);
        }
    }

    @Test
    void joinsAFencedTransaction_whoseCommitIsRefused_whenARefusalIsSwallowed() throws SQLException {
        var schema = FenceSchema.postgres();
        dsl.execute(schema.fenceTable());
        dsl.execute("INSERT INTO ringfence_fence VALUES ('invoices', 'e', 4, 'h')");
        var resource = ResourceFence.on(dataSource, "invoices");

        assertThatThrownBy(() -> resource.useTransaction(token(4), connection -> {
                    DSLContext inside = DSL.using(connection, SQLDialect.POSTGRES);
                    fence.execute(token(4), close(inside, 3));
                    assertThat(refused(4, close(inside, 1))).isNotNull();
                    assertThatThrownBy(() -> fence.execute(token(5), close(inside, 3)))
                            .isInstanceOf(IllegalStateException.class);
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(invoices()).containsExactly("1|open|5", "2|open|5", "3|open|0");
    }
}
