package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongConsumer;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Leaders of several terms that write one row at the same time, by queries, records and batches. */
@ExtendWith(SharedServers.class)
class JooqRaceIT extends JooqFixture {
    private static final int LEADERS = 4;
    private static final int WRITES = 150;

    JooqRaceIT(PostgresDatabase empty) {
        super(empty.dataSource(), SQLDialect.POSTGRES);
    }

    /** Every update notes the token before and after it. */
    private void note() {
        dsl.execute("CREATE TABLE history (n bigserial, before bigint, after bigint)");
        dsl.execute("CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO history (before,"
                + " after) VALUES (OLD.fencing_token, NEW.fencing_token); RETURN NEW; END'");
        dsl.execute("CREATE TRIGGER note AFTER UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION note()");
    }

    private void race(LongConsumer write) throws InterruptedException {
        CountDownLatch start = new CountDownLatch(1);
        List<CompletableFuture<Void>> leaders = new ArrayList<>();
        for (int i = 0; i < LEADERS; i++) {
            long token = 10L + i;
            leaders.add(CompletableFuture.runAsync(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int n = 0; n < WRITES / LEADERS; n++) {
                    write.accept(token);
                }
            }));
        }
        start.countDown();
        leaders.forEach(CompletableFuture::join);
    }

    private void fenced(long token) {
        try {
            FencingToken own = token(token);
            fence.execute(own, close(dsl, 1));
            dsl.transaction(configuration -> fence.batch(own, close(configuration.dsl(), 1)));
            var record = dsl.fetchSingle(INVOICE, INVOICE.ID.eq(1));
            record.setStatus("by " + token + " " + System.nanoTime());
            fence.store(own, record);
        } catch (FencedOutException e) {
            assertThat(e.presented().value()).isEqualTo(token);
        }
    }

    private void unfenced(long token) {
        dsl.update(INVOICE)
                .set(INVOICE.STATUS, "by " + token)
                .set(INVOICE.FENCING_TOKEN, token)
                .where(INVOICE.ID.eq(1))
                .execute();
    }

    private int backwards() {
        return dsl.fetchSingle("SELECT count(*) FROM history WHERE after < before")
                .get(0, int.class);
    }

    @Test
    void noTokenEverGoesBack_andWithoutTheFenceItDoes() throws InterruptedException {
        note();
        race(this::fenced);
        assertThat(dsl.fetchSingle("SELECT count(*) FROM history").get(0, int.class))
                .isGreaterThan(10);
        assertThat(backwards()).isZero();
        assertThat(invoice(1)).endsWith("|" + (10 + LEADERS - 1));

        race(this::unfenced);
        assertThat(backwards()).as("without a fence").isPositive();
    }
}
