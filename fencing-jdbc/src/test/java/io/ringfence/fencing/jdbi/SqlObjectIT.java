package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.Sql;
import io.ringfence.fencing.TooManyRowsException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.DefaultStatementBuilder;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.Update;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every shape that a method of a SQL object can have: a fresh token writes, and a stale one does not. */
@Tag("jdbi")
@ExtendWith(SharedServers.class)
class SqlObjectIT {
    private final FakeLease fresh = FakeLease.of(7);
    private final FakeLease stale = FakeLease.of(4);
    private final DataSource dataSource;
    private final InvoiceTable invoices;
    private final Jdbi jdbi;

    SqlObjectIT(PostgresDatabase empty) throws SQLException {
        dataSource = empty.dataSource();
        invoices = new InvoiceTable(dataSource).create();
        jdbi = Jdbi.create(dataSource)
                .installPlugin(new SqlObjectPlugin())
                .installPlugin(JdbiFence.onColumn("fencing_token").key("id"));
    }

    /** A call that writes x to the invoice 1. */
    @FunctionalInterface
    interface Call {
        void run(InvoiceObject object, FakeLease lease);
    }

    static Stream<Arguments> calls() {
        return Stream.of(
                call("asInt", (o, lease) -> assertThat(o.asInt(lease, "x", 1)).isEqualTo(1)),
                call("asLong", (o, lease) -> assertThat(o.asLong(lease, "x", 1)).isEqualTo(1)),
                call(
                        "asBoolean",
                        (o, lease) -> assertThat(o.asBoolean(lease, "x", 1)).isTrue()),
                call("asVoid", (o, lease) -> o.asVoid(lease, "x", 1)),
                call("named", (o, lease) -> o.named(1, lease, "x")),
                call("positional", (o, lease) -> o.positional("x", 1, lease)),
                call("bean", (o, lease) -> o.bean(lease, new Invoice(1, "x"))),
                call("methods", (o, lease) -> o.methods(lease, new Invoice(1, "x"))),
                call("map", (o, lease) -> o.map(lease, Map.of("status", "x", "id", 1))),
                call("upsert", (o, lease) -> o.upsert(lease, 1, "x")),
                call(
                        "generated",
                        (o, lease) ->
                                assertThat(o.generated(lease, "x", 1).status()).isEqualTo("x")),
                call(
                        "returningOne",
                        (o, lease) ->
                                assertThat(o.returningOne(lease, "x", 1).id()).isEqualTo(1)),
                call(
                        "returningOptional",
                        (o, lease) ->
                                assertThat(o.returningOptional(lease, "x", 1)).isPresent()),
                call(
                        "returningStream",
                        (o, lease) ->
                                assertThat(o.returningStream(lease, "x", 1)).hasSize(1)),
                call("returningIterator", (o, lease) -> o.returningIterator(lease, "x", 1)),
                call("ownParser", (o, lease) -> o.ownParser(lease, "x", 1)),
                call("ownEngine", (o, lease) -> o.ownEngine(lease, "invoice", "x", 1)),
                call("allVoid", (o, lease) -> o.allVoid(lease, "x", List.of(1))),
                call(
                        "allBooleans",
                        (o, lease) -> assertThat(o.allBooleans(lease, List.of(new Invoice(1, "x"))))
                                .containsExactly(true)),
                call(
                        "allPositional",
                        (o, lease) -> assertThat(o.allPositional(List.of("x"), List.of(1), lease))
                                .containsExactly(1)),
                call(
                        "allGenerated",
                        (o, lease) -> assertThat(o.allGenerated(lease, List.of(new Invoice(1, "x"))))
                                .hasSize(1)),
                call(
                        "chunked",
                        (o, lease) ->
                                assertThat(o.chunked(lease, "x", List.of(1))).containsExactly(1)));
    }

    private static Arguments call(String name, Call call) {
        return Arguments.of(name, call);
    }

    private void use(Consumer<InvoiceObject> work) {
        jdbi.useHandle(handle -> work.accept(handle.attach(InvoiceObject.class)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("calls")
    void writesWithAFreshToken_andRefusesAStaleOneByName(String name, Call call) throws SQLException {
        use(object -> call.run(object, fresh));
        assertThat(invoices.row(1)).isEqualTo("x|7");

        invoices.execute("UPDATE invoice SET status = 'newer', fencing_token = 9 WHERE id = 1");
        use(object -> assertThatThrownBy(() -> call.run(object, fresh))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED))
                .hasMessageContaining("In InvoiceObject." + name + ": "));
        assertThat(invoices.row(1)).isEqualTo("newer|9");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("calls")
    void worksOnDemand_andInAnExtension(String name, Call call) throws SQLException {
        if (name.equals("returningStream") || name.equals("returningIterator")) {
            jdbi.useExtension(InvoiceObject.class, object -> call.run(object, fresh));
        } else {
            call.run(jdbi.onDemand(InvoiceObject.class), fresh);
        }

        assertThat(invoices.row(1)).isEqualTo("x|7");
    }

    @Test
    void fencesDefinedTablesAndLists() throws SQLException {
        use(object -> {
            assertThat(object.defined(fresh, "invoice", List.of(1, 3))).isEqualTo(2);
            assertThatThrownBy(() -> object.defined(stale, "invoice", List.of(1, 2)))
                    .isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> object.defined(fresh, "invoice SET status = 'x'; UPDATE invoice", List.of(1)))
                    .isInstanceOf(NotFenceableException.class);
        });
        assertThat(invoices.row(3)).isEqualTo("listed|7");
    }

    @Test
    void fencesWhereTheAttributesStand() throws SQLException {
        invoices.execute("UPDATE invoice SET status = 'other' WHERE id = 3");
        use(object -> {
            assertThatThrownBy(() -> object.attributes(stale, 1, 3)).isInstanceOf(FencedOutException.class);
            object.attributes(fresh, 1, 3);
            object.upsert(fresh, 8, "new");
        });
        assertThat(invoices.row(1)).isEqualTo("other|7");
        assertThat(invoices.row(8)).isEqualTo("new|7");
    }

    @Test
    void bindsLeasesAndTokensAsNumbers() {
        use(object -> {
            assertThat(object.boundToken(new FencingToken(3))).isEqualTo(3);
            assertThat(object.boundLease(FakeLease.of(4))).isEqualTo(4);
            object.alsoBound(fresh, 1);
        });
        jdbi.useHandle(handle -> assertThat(handle.createQuery("SELECT :lease + ?::int")
                        .bind("lease", FakeLease.of(4))
                        .bind("x", 1)
                        .getContext())
                .isNotNull());
    }

    @Test
    void takesColumnAndKeyFromTheAnnotation() throws SQLException {
        invoices.execute("CREATE TABLE bill (number int PRIMARY KEY, v int, epoch bigint NOT NULL DEFAULT 0)");
        invoices.execute("INSERT INTO bill VALUES (1, 1, 5)");

        use(object -> {
            object.ownColumn(fresh, 9, 1);
            assertThatThrownBy(() -> object.ownColumn(fresh, 10, 1))
                    .isInstanceOfSatisfying(
                            NoMatchingRowException.class,
                            e -> assertThat(e.key()).contains("number = 1"));
            assertThatThrownBy(() -> object.ownColumn(stale, 10, 1)).isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> object.keyless(fresh, "x", 1))
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
        });
        assertThat(Sql.one(dataSource, "SELECT v, epoch FROM bill")).isEqualTo("9|7");
    }

    @Test
    void countsAllRowsThatAreReturned_evenIfOnlyOneIsRead() throws SQLException {
        use(object -> assertThatThrownBy(() -> jdbi.useTransaction(
                        inside -> inside.attach(InvoiceObject.class).onlyTheFirst(fresh)))
                .isInstanceOf(TooManyRowsException.class)
                .hasMessageContaining("wrote 3 rows"));
        use(object -> assertThatThrownBy(() -> object.limited(fresh))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("InvoiceObject.limited"));
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    void putsAllChunksOfABatchIntoOneTransaction() throws SQLException {
        use(object -> {
            assertThatThrownBy(() -> object.chunked(stale, "x", List.of(3, 1))).isInstanceOf(FencedOutException.class);
            assertThat(object.chunked(fresh, "x", List.of())).isEmpty();
        });
        assertThat(invoices.row(3)).isEqualTo("open|0");

        invoices.execute("ALTER TABLE invoice ADD CHECK (status <> 'bad' OR id = 3)");
        use(object ->
                assertThatThrownBy(() -> object.unfenced("bad", List.of(3, 1))).isInstanceOf(RuntimeException.class));
        assertThat(invoices.row(3)).as("JDBI's own chunks are transactions").isEqualTo("bad|0");
    }

    @Test
    void fencesTheMethodsOfAnAbstractClass() throws SQLException {
        jdbi.registerExtension(new AbstractInvoicesImpl.Factory());
        jdbi.useExtension(AbstractInvoices.class, object -> {
            assertThat(object.close(fresh, "x", 1)).isEqualTo(1);
            assertThat(object.returning(fresh, "y", 1)).isEqualTo("y");
            assertThat(object.closeAll(fresh, List.of(1, 2))).containsExactly(1, 1);

            assertThatThrownBy(() -> object.close(stale, "x", 1))
                    .isInstanceOf(FencedOutException.class)
                    .hasMessageContaining("In AbstractInvoices.close: ");
            assertThatThrownBy(() -> object.returning(stale, "x", 1)).isInstanceOf(FencedOutException.class);
            assertThatThrownBy(() -> object.closeAll(stale, List.of(3, 1))).isInstanceOf(FencedOutException.class);
        });
        assertThat(invoices.row(3)).isEqualTo("open|0");
        assertThat(invoices.row(1)).isEqualTo("x|7");
    }

    @Test
    void leavesTheConfigurationOfTheHandleAlone() {
        jdbi.useHandle(handle -> {
            SqlStatements before = handle.getConfig(SqlStatements.class);
            Object parser = before.getSqlParser();
            Object engine = before.getTemplateEngine();
            Map<String, Object> attributes = Map.copyOf(before.getAttributes());
            Object builder = handle.getStatementBuilder();

            handle.attach(InvoiceObject.class).asVoid(fresh, "x", 1);

            SqlStatements after = handle.getConfig(SqlStatements.class);
            assertThat(after.getSqlParser()).isSameAs(parser);
            assertThat(after.getTemplateEngine()).isSameAs(engine);
            assertThat(after.getAttributes()).isEqualTo(attributes);
            assertThat(handle.getStatementBuilder()).isSameAs(builder);
            assertThat(handle.createUpdate("UPDATE invoice SET status = 'plain'")
                            .execute())
                    .as("the next statement is not fenced")
                    .isEqualTo(3);
        });
    }

    @Test
    void saysThatThePluginIsMissing_andRunsNothing() throws SQLException {
        Jdbi bare = Jdbi.create(dataSource).installPlugin(new SqlObjectPlugin());

        assertThatThrownBy(() -> bare.useExtension(InvoiceObject.class, object -> object.asVoid(fresh, "x", 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("@Fenced at InvoiceObject.asVoid needs the plugin");
        assertThatThrownBy(() -> bare.useHandle(
                        handle -> JdbiFence.onColumn("fencing_token").on(handle, fresh)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("installPlugin");
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    void refusesToRun_whenTheStatementBuilderWasReplaced() throws SQLException {
        try (Handle handle = jdbi.open()) {
            handle.setStatementBuilder(new DefaultStatementBuilder());

            assertThatThrownBy(() -> handle.attach(InvoiceObject.class).asVoid(fresh, "x", 1))
                    .isInstanceOf(NotFenceableException.class)
                    .hasMessageContaining("StatementBuilder")
                    .hasMessageContaining("InvoiceObject.asVoid");
        }
        try (Handle handle = jdbi.open()) {
            Update prepared = JdbiFence.onColumn("fencing_token")
                    .on(handle, fresh)
                    .createUpdate("UPDATE invoice SET status = 'x' WHERE id = 1");
            handle.setStatementBuilder(new DefaultStatementBuilder());

            assertThatThrownBy(prepared::execute)
                    .isInstanceOf(NotFenceableException.class)
                    .hasMessageContaining("prepared it without a fence");
        }
        assertThat(invoices.row(1)).isEqualTo("open|5");
    }

    @Test
    @SuppressWarnings("NullAway") // what the test is about
    void namesTheMethod_whenItIsCalledWithoutALease() {
        use(object -> assertThatThrownBy(() -> object.asVoid(null, "x", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("InvoiceObject.asVoid was called without a lease"));
    }
}
