package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.Sql;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;

/** A stale write that waits for the row which the new leader has written and not yet committed. */
record WaitingWrite(Jdbi jdbi, DataSource dataSource, Function<Handle, JdbiWrites> way) {
    private static final String WAITING =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";

    /** Writes with token 6 behind token 7; throws what the write threw. */
    void at(TransactionIsolationLevel level) throws Exception {
        run(7, level, stale -> way.apply(stale).update(FakeLease.of(6), JdbiRowFenceContract.CLOSE, stale()));
    }

    /** Writes without a fence behind token 8. */
    void withoutAFence() throws Exception {
        run(
                8,
                TransactionIsolationLevel.READ_COMMITTED,
                stale -> stale.createUpdate(JdbiRowFenceContract.CLOSE)
                        .bindMap(stale())
                        .execute());
    }

    private static Map<String, Object> stale() {
        return Map.of("status", "stale", "id", 1);
    }

    private void run(long token, TransactionIsolationLevel level, Consumer<Handle> write) throws Exception {
        try (Handle leader = jdbi.open()) {
            leader.begin();
            way.apply(leader)
                    .update(FakeLease.of(token), JdbiRowFenceContract.CLOSE, Map.of("status", "leader", "id", 1));
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> jdbi.useTransaction(level, write::accept));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() ->
                            waiting.isDone() || !Sql.one(dataSource, WAITING).equals("0"));
            leader.commit();
            waiting.get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : new CompletionException(e.getCause());
        }
    }
}
