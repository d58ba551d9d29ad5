package io.ringfence.fencing.jooq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FenceSchemaException;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.TooManyRowsException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

@ExtendWith(SharedServers.class)
class JooqFenceIT {
    private static final Table<Record> INVOICE = table(name("invoice"));
    private static final Field<Integer> ID = field(name("id"), SQLDataType.INTEGER);
    private static final Field<String> STATUS = field(name("status"), SQLDataType.VARCHAR);
    private static final Field<JSONB> DOC = field(name("doc"), SQLDataType.JSONB);
    private static final Field<Long> TOKEN = field(name("fencing_token"), SQLDataType.BIGINT);

    private final JooqFence fence = JooqFence.onColumn("fencing_token").key("id");
    private DataSource dataSource;
    private DSLContext dsl;

    @BeforeEach
    void createTables(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE invoice (id int PRIMARY KEY, status text, doc jsonb)");
            statement.execute(FenceSchema.postgres().tokenColumn("invoice"));
            statement.execute("INSERT INTO invoice VALUES (1, 'open', '{}', 5), (2, 'open', '{}', 5)");
            statement.execute(FenceSchema.postgres().fenceTable());
        }
        dsl = DSL.using(dataSource, SQLDialect.POSTGRES);
    }

    private static FencingToken token(long value) {
        return new FencingToken(value);
    }

    private List<String> invoices() {
        return dsl.fetch("SELECT id || ' ' || status || ' ' || fencing_token FROM invoice ORDER BY id")
                .into(String.class);
    }

    private Query close(DSLContext context, int id) {
        return context.update(INVOICE).set(STATUS, "closed").where(ID.eq(id));
    }

    @Test
    void writesRowAndToken_andLeavesTheQueryAsItIs() {
        Query query = close(dsl, 1);
        String before = query.getSQL();

        assertThat(fence.execute(token(7), query)).isEqualTo(1);
        assertThat(fence.execute(token(7), query)).isEqualTo(1);

        assertThat(query.getSQL()).isEqualTo(before).doesNotContain("fencing_token");
        assertThat(query.getBindValues()).containsExactly("closed", 1);
        assertThat(invoices()).containsExactly("1 closed 7", "2 open 5");
    }

    @Test
    void rejectsWrite_whenTokenIsLower() {
        for (Query query : List.of(close(dsl, 1), dsl.deleteFrom(INVOICE).where(ID.eq(1)))) {
            assertThatThrownBy(() -> fence.execute(token(4), query))
                    .isInstanceOfSatisfying(FencedOutException.class, e -> {
                        assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                        assertThat(e.presented()).isEqualTo(token(4));
                        assertThat(e.observed()).hasValue(5);
                        assertThat(e.target()).isEqualTo("table invoice");
                        assertThat(e.key()).contains("id = 1");
                    });
        }
        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void deletes_whenTokenIsNotLower() {
        assertThat(fence.execute(
                        token(5),
                        dsl.deleteFrom(INVOICE.as("i"))
                                .where(field(name("i", "id")).eq(1))))
                .isEqualTo(1);

        assertThat(invoices()).containsExactly("2 open 5");
    }

    @Test
    void saysNoMatchingRow_whenTheRowIsMissingOrAnotherConditionFalse() {
        Query draft = dsl.update(INVOICE).set(STATUS, "closed").where(ID.eq(1)).and(STATUS.eq("draft"));

        assertThatThrownBy(() -> fence.execute(token(7), close(dsl, 99))).isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> fence.execute(token(7), draft)).isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> fence.execute(token(4), draft))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThatThrownBy(() -> JooqFence.onColumn("fencing_token").execute(token(7), close(dsl, 99)))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
    }

    static final List<Function<DSLContext, Condition>> CONDITIONS = List.of(
            context -> ID.eq(1).or(ID.eq(2)),
            context -> ID.eq(1).and(STATUS.eq("open")).or(ID.eq(2)),
            context -> DSL.not(ID.eq(99)),
            context -> DSL.condition("id = 1 or id = ?", 2),
            context -> DSL.condition(DSL.val(true)).or(ID.eq(1)),
            context -> ID.in(context.select(ID).from(INVOICE)),
            context -> DSL.noCondition(),
            context -> DSL.row(ID, STATUS).eq(1, "open").or(STATUS.eq("open")));

    @ParameterizedTest
    @FieldSource("CONDITIONS")
    void aStaleTokenWritesNothing_whateverTheCondition(Function<DSLContext, Condition> condition) {
        Condition built = condition.apply(dsl);
        for (Query query : List.of(
                dsl.update(INVOICE).set(STATUS, "stale").where(built),
                dsl.deleteFrom(INVOICE).where(built))) {
            assertThatThrownBy(() -> fence.execute(token(4), query))
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        }
        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    static final List<Function<DSLContext, Query>> REFUSED = List.of(
            context -> context.query("update invoice set status = 'x' where id = 1"),
            context -> context.insertInto(INVOICE).columns(ID).values(3),
            context -> context.insertInto(INVOICE)
                    .columns(ID)
                    .values(1)
                    .onConflict(ID)
                    .doUpdate()
                    .set(STATUS, "x"),
            context -> context.mergeInto(INVOICE)
                    .using(context.selectOne())
                    .on(ID.eq(1))
                    .whenMatchedThenDelete(),
            context -> context.update(INVOICE)
                    .set(STATUS, "x")
                    .from(INVOICE.as("j"))
                    .where(field("j.id").eq(1)),
            context -> context.update(INVOICE)
                    .set(STATUS, "x")
                    .where(ID.eq(1))
                    .orderBy(ID)
                    .limit(1),
            context -> context.update(INVOICE).set(STATUS, "x").where(ID.eq(1)).returning(),
            context -> context.with("w")
                    .as(context.selectOne())
                    .update(INVOICE)
                    .set(STATUS, "x")
                    .where(ID.eq(1)),
            context -> context.deleteFrom(INVOICE).using(INVOICE.as("j")).where(ID.eq(1)),
            context -> context.deleteFrom(INVOICE).where(ID.eq(1)).orderBy(ID).limit(1),
            context -> context.deleteFrom(INVOICE).where(ID.eq(1)).returning(),
            context -> context.update(INVOICE).set(STATUS, "x").set(TOKEN, 99L).where(ID.eq(1)),
            context -> context.update(INVOICE)
                    .set(field("FENCING_TOKEN", Long.class), 99L)
                    .where(ID.eq(1)),
            context ->
                    context.update(INVOICE).set(field("status"), (Object) "x").where("id = 1) or (1 = 1"),
            context -> context.update(INVOICE).set(STATUS, "x").where("id = 1 returning id --"),
            context ->
                    context.update(table("invoice, invoice j")).set(STATUS, "x").where(ID.eq(1)),
            context -> context.select(ID).from(INVOICE),
            context -> context.truncate(INVOICE),
            context -> context.dropTable(INVOICE));

    @ParameterizedTest
    @FieldSource("REFUSED")
    void whatCannotBeFenced_isRefusedAndDoesNotRun(Function<DSLContext, Query> query) {
        assertThatThrownBy(() -> fence.execute(token(7), query.apply(dsl))).isInstanceOf(NotFenceableException.class);

        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void keepsBindingsOfTheQuery() {
        fence.execute(
                token(7),
                dsl.update(INVOICE)
                        .set(DOC, JSONB.valueOf("{\"a\": \"?\"}"))
                        .set(STATUS, DSL.when(ID.eq(1), "it's '?' -- \\' x").otherwise("no"))
                        .where(DOC.eq(JSONB.valueOf("{}")).and(ID.eq(1))));

        assertThat(dsl.fetchValue("SELECT doc ->> 'a' || status FROM invoice WHERE id = 1"))
                .isEqualTo("?it's '?' -- \\' x");
    }

    @Test
    void takesQueriesThatAreNotBuiltInOneGo() {
        var update = dsl.updateQuery(INVOICE);
        update.addValue(STATUS, "closed");
        update.addConditions(ID.eq(1));

        assertThat(fence.execute(token(7), update)).isEqualTo(1);
        assertThat(invoices()).containsExactly("1 closed 7", "2 open 5");
    }

    @Test
    void joinsTheTransactionOfTheQuery() {
        assertThatThrownBy(() -> dsl.transaction(configuration -> {
                    assertThat(fence.execute(token(7), close(configuration.dsl(), 1)))
                            .isEqualTo(1);
                    throw new IllegalStateException("roll back");
                }))
                .hasMessage("roll back");

        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void refusesTheCommitOfAFencedTransaction_whenARefusalIsSwallowed() throws Exception {
        ResourceFence resource = ResourceFence.on(dataSource, "invoices");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO ringfence_fence VALUES ('invoices', 'e', 4, 'h')");
        }

        assertThatThrownBy(() -> resource.useTransaction(token(4), connection -> {
                    DSLContext inside = DSL.using(connection, SQLDialect.POSTGRES);
                    inside.execute("INSERT INTO invoice VALUES (3, 'new')");
                    assertThatThrownBy(() -> fence.execute(token(4), close(inside, 1)))
                            .isInstanceOf(FencedOutException.class);
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void reportsMoreThanOneRow() {
        assertThatThrownBy(() -> dsl.transaction(configuration -> fence.execute(
                        token(7),
                        configuration.dsl().update(INVOICE).set(STATUS, "x").where(ID.in(1, 2)))))
                .isInstanceOf(TooManyRowsException.class);
        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void sendsNothing_whenTheLeaseIsLost() {
        FencingTokenSource lost = () -> {
            throw new LeaseLostException("invoices", token(7), LossReason.DEADLINE_EXCEEDED);
        };

        assertThatThrownBy(() -> fence.execute(lost, close(dsl, 1))).isInstanceOf(LeaseLostException.class);
        assertThat(invoices()).containsExactly("1 open 5", "2 open 5");
    }

    @Test
    void passesDatabaseErrorsThrough_asJooqDoes() {
        assertThatThrownBy(() ->
                        fence.execute(token(7), dsl.update(INVOICE).set(ID, 2).where(ID.eq(1))))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).isEqualTo("23505"));
        assertThatThrownBy(() -> fence.execute(
                        token(7), dsl.update(table(name("nowhere"))).set(ID, 2).where(ID.eq(1))))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).isEqualTo("42P01"));
    }

    @Test
    void namesTheDdl_whenTheColumnIsMissing() {
        assertThatThrownBy(() -> JooqFence.onColumn("other").execute(token(7), close(dsl, 1)))
                .isInstanceOf(FenceSchemaException.class)
                .hasMessageContaining("ADD COLUMN IF NOT EXISTS \"other\" bigint");
    }

    @Test
    void refusesQueriesWithoutAConnectionOrOfAnotherDialect() {
        Stream.of(DSL.update(INVOICE).set(ID, 1), close(DSL.using(SQLDialect.POSTGRES), 1))
                .forEach(query -> assertThatThrownBy(() -> fence.execute(token(7), query))
                        .isInstanceOfAny(IllegalArgumentException.class, NotFenceableException.class));
        assertThatThrownBy(() -> fence.execute(token(7), close(DSL.using(dataSource, SQLDialect.H2), 1)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("H2");
    }
}
