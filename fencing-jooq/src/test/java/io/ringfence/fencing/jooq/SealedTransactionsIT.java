package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static io.ringfence.fencing.jooq.generated.Tables.PAYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.Lease;
import io.ringfence.election.testing.InMemoryElections;
import io.ringfence.election.testing.InMemoryLockService;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConnectionProvider;
import org.jooq.impl.ThreadLocalTransactionProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** jOOQ's transactions with a seal, and the same without one as the control. */
@ExtendWith(SharedServers.class)
class SealedTransactionsIT extends JooqFixture {
    private final InMemoryElections elections = new InMemoryLockService().elections("first");
    private final AtomicReference<@Nullable Lease> current = new AtomicReference<>();
    private final ResourceFence resource;
    private final DSLContext sealed;

    SealedTransactionsIT(PostgresDatabase empty) {
        super(empty.dataSource(), SQLDialect.POSTGRES);
        resource = ResourceFence.on(dataSource, "invoices");
        sealed = SealedTransactions.on(dsl.configuration(), resource, current::get)
                .dsl();
    }

    @BeforeEach
    void fence() throws SQLException, InterruptedException {
        FenceSchema schema = FenceSchema.postgres().inSchema("public");
        dsl.execute(schema.fenceTable());
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(schema.fenceFunctions());
        }
        Lease first = elections.election("invoices").tryAcquire().orElseThrow();
        current.set(first);
        resource.raise(first);
    }

    /** Another process raises the fence, while this one is cut off and still thinks that it leads. */
    private void overtake() {
        elections.disconnect();
        dsl.execute("UPDATE ringfence_fence SET token = token + 1");
    }

    private static void insert(DSLContext in, int id) {
        in.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS).values(id, "new").execute();
    }

    @Test
    void commits_whileTheLeaseLeads() {
        sealed.transaction(configuration -> {
            insert(configuration.dsl(), 10);
            configuration.dsl().execute("UPDATE invoice SET status = 'plain' WHERE id = 1");
        });
        insert(sealed, 11);

        assertThat(invoices()).contains("1|plain|5", "10|new|0", "11|new|0");
    }

    @Test
    void refusesTheCommitOfAFormerLeader_whateverItWrote_andAsItIs() {
        assertThatThrownBy(() -> sealed.transaction(configuration -> {
                    insert(configuration.dsl(), 10);
                    overtake();
                }))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThatThrownBy(() -> insert(sealed, 11))
                .isInstanceOf(RuntimeException.class)
                .satisfies(e -> assertThat(FencedOutException.find(e)).isPresent());
        assertThat(dsl.fetchCount(INVOICE)).isEqualTo(3);

        dsl.transaction(configuration -> insert(configuration.dsl(), 10));
        assertThat(dsl.fetchCount(INVOICE)).as("without a seal").isEqualTo(4);
    }

    @Test
    void sealsOnce_atTheOutermostLevel() {
        assertThatThrownBy(() -> sealed.transaction(outer -> {
                    outer.dsl().transaction(inner -> {
                        insert(inner.dsl(), 10);
                        inner.dsl().transaction(innermost -> insert(innermost.dsl(), 11));
                    });
                    assertThat(dsl.fetchCount(INVOICE))
                            .as("nothing is committed yet")
                            .isEqualTo(3);
                    overtake();
                    outer.dsl().transaction(inner -> insert(inner.dsl(), 12));
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(dsl.fetchCount(INVOICE)).isEqualTo(3);
    }

    @Test
    void anInnerTransactionRollsBackAlone() {
        sealed.transaction(outer -> {
            insert(outer.dsl(), 10);
            assertThatThrownBy(() -> outer.dsl().transaction(inner -> {
                        insert(inner.dsl(), 11);
                        inner.dsl().transaction(innermost -> insert(innermost.dsl(), 12));
                        throw new IllegalStateException("inner");
                    }))
                    .hasMessage("inner");
            outer.dsl().transaction(inner -> insert(inner.dsl(), 13));
        });

        assertThat(dsl.select(INVOICE.ID).from(INVOICE).orderBy(INVOICE.ID).fetch(INVOICE.ID))
                .containsExactly(1, 2, 3, 10, 13);
    }

    @Test
    void whatTheWorkThrowsArrives_andTransactionsOfOneConfigurationDoNotMeet() {
        assertThatThrownBy(() -> sealed.transaction(configuration -> {
                    insert(configuration.dsl(), 10);
                    sealed.transaction(other -> insert(other.dsl(), 11));
                    throw new IllegalArgumentException("mine");
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("mine");

        assertThat(dsl.select(INVOICE.ID).from(INVOICE).orderBy(INVOICE.ID).fetch(INVOICE.ID))
                .containsExactly(1, 2, 3, 11);
    }

    @Test
    void aSwallowedRefusalOfARow_refusesTheCommit() {
        Lease lease = Objects.requireNonNull(current.get());
        dsl.update(INVOICE)
                .set(INVOICE.FENCING_TOKEN, Long.MAX_VALUE)
                .where(INVOICE.ID.eq(1))
                .execute();

        assertThatThrownBy(() -> sealed.transaction(configuration -> {
                    fence.execute(
                            lease,
                            configuration
                                    .dsl()
                                    .update(INVOICE)
                                    .set(INVOICE.STATUS, "x")
                                    .where(INVOICE.ID.eq(3)));
                    assertThat(refused(lease.fencingToken().value(), close(configuration.dsl(), 1)))
                            .isNotNull();
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(invoice(3)).isEqualTo("open|0");
    }

    @Test
    void readsWithoutALease_andRefusesToWrite() {
        current.set(null);

        int count =
                sealed.transactionResult(configuration -> configuration.dsl().fetchCount(INVOICE));
        assertThat(count).isEqualTo(3);
        assertThatThrownBy(() -> sealed.transaction(configuration -> insert(configuration.dsl(), 10)))
                .satisfies(e -> assertThat(e instanceof NoLeaseException || e.getCause() instanceof NoLeaseException)
                        .as("%s", e)
                        .isTrue());
        assertThat(dsl.fetchCount(INVOICE)).isEqualTo(3);
    }

    @Test
    void otherFailuresOfCommitArriveAsJooqsOwn() {
        dsl.execute(
                "ALTER TABLE payment ADD FOREIGN KEY (invoice_id) REFERENCES invoice DEFERRABLE INITIALLY DEFERRED");

        assertThatThrownBy(() -> sealed.transaction(configuration -> configuration
                        .dsl()
                        .insertInto(PAYMENT, PAYMENT.INVOICE_ID, PAYMENT.VERSION)
                        .values(99, 1)
                        .execute()))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).isEqualTo("23503"));
    }

    @Test
    void refusesTransactionsOfOthers() throws SQLException {
        Configuration plain = dsl.configuration();
        TransactionProvider springs = new TransactionProvider() {
            @Override
            public void begin(TransactionContext context) {}

            @Override
            public void commit(TransactionContext context) {}

            @Override
            public void rollback(TransactionContext context) {}
        };
        try (Connection connection = dataSource.getConnection()) {
            for (Configuration other : List.of(
                    plain.derive(springs),
                    plain.derive(new ThreadLocalTransactionProvider(new DataSourceConnectionProvider(dataSource))),
                    plain.derive(new DefaultConnectionProvider(connection)))) {
                assertThatThrownBy(() -> SealedTransactions.on(other, resource, current::get))
                        .isInstanceOf(NotFenceableException.class);
            }
        }
        DSLContext byThread = plain.derive(
                        new ThreadLocalTransactionProvider(new DataSourceConnectionProvider(dataSource)))
                .dsl();
        assertThatThrownBy(() -> fence.execute(token(9), close(byThread, 1)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("FencedDataSource");
    }

    /** A level that swallowed an error of the database can neither begin another one nor be released. */
    private static void swallowError(Configuration in) {
        assertThatThrownBy(() -> in.dsl().execute("SELECT 1/0")).isInstanceOf(DataAccessException.class);
    }

    @Test
    void aNestedTransactionThatCannotBegin_endsNoneAboveIt() {
        assertThatThrownBy(() -> sealed.transaction(outer -> {
                    insert(outer.dsl(), 10);
                    outer.dsl().transaction(middle -> {
                        insert(middle.dsl(), 11);
                        swallowError(middle);
                        assertThatThrownBy(() -> middle.dsl().transaction(inner -> insert(inner.dsl(), 12)))
                                .isInstanceOf(DataAccessException.class);
                    });
                }))
                .isInstanceOf(DataAccessException.class);

        assertThat(dsl.fetchCount(INVOICE)).isEqualTo(3);
    }

    @Test
    void aNestedTransactionThatCannotBeReleased_isRolledBackAlone() {
        sealed.transaction(outer -> {
            insert(outer.dsl(), 10);
            outer.dsl().transaction(middle -> {
                insert(middle.dsl(), 11);
                assertThatThrownBy(() -> middle.dsl().transaction(inner -> {
                            insert(inner.dsl(), 12);
                            swallowError(inner);
                        }))
                        .isInstanceOf(DataAccessException.class);
            });
            assertThat(outer.dsl().fetchCount(INVOICE)).isEqualTo(5);
        });

        assertThat(dsl.select(INVOICE.ID).from(INVOICE).fetch(INVOICE.ID))
                .contains(10, 11)
                .doesNotContain(12);
    }
}
