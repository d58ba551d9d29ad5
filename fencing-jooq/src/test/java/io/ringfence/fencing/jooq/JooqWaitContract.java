package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A stale query that is already on its way when the new leader writes, and waits for its row lock. */
abstract class JooqWaitContract extends JooqFixture {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String waiting;

    JooqWaitContract(DataSource empty, SQLDialect dialect, String column, String waiting) {
        super(empty, dialect, column);
        this.waiting = waiting;
    }

    /** Runs a write that meets the new leader's lock, lets the leader commit, and returns what became of the write. */
    @Nullable
    Throwable behindTheLeader(int isolation, Consumer<DSLContext> write) throws SQLException {
        try (Connection leader = dataSource.getConnection();
                Connection stale = dataSource.getConnection()) {
            leader.setAutoCommit(false);
            stale.setAutoCommit(false);
            stale.setTransactionIsolation(isolation);
            DSLContext late = DSL.using(stale, dsl.dialect());
            late.fetchCount(INVOICE);
            fence.execute(token(9), close(DSL.using(leader, dsl.dialect()), 1));
            CompletableFuture<@Nullable Throwable> outcome = CompletableFuture.supplyAsync(() -> {
                try {
                    write.accept(late);
                    stale.commit();
                    return null;
                } catch (Exception e) {
                    return e;
                }
            });
            await().atMost(PATIENCE).until(() -> dsl.fetchSingle(waiting).get(0, int.class) > 0);
            leader.commit();
            return outcome.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        }
    }

    int stale(DSLContext in) {
        return fence.execute(
                token(5), in.update(INVOICE).set(INVOICE.STATUS, "stale").where(INVOICE.ID.eq(1)));
    }

    @Test
    void isSuperseded_atReadCommitted_whereTheUnfencedOneOverwrites() throws SQLException {
        assertThat(behindTheLeader(Connection.TRANSACTION_READ_COMMITTED, this::stale))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(invoice(1)).isEqualTo("closed|9");

        assertThat(behindTheLeader(
                        Connection.TRANSACTION_READ_COMMITTED,
                        in -> in.update(INVOICE)
                                .set(INVOICE.STATUS, "stale")
                                .where(INVOICE.ID.eq(1))
                                .execute()))
                .isNull();
        assertThat(invoice(1)).as("the lost update").isEqualTo("stale|9");
    }
}
