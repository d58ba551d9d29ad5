package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.LeaseLostException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Statements that are under way when the lease is lost. */
@ExtendWith(SharedServers.class)
class CancelOnLossIT {
    private static final String SLOW = "UPDATE t SET v = 1 FROM pg_sleep(30)";

    // the default one may have a single thread
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private FencedPool db;
    private FencedDataSource cancelling;
    private FakeLease lease;

    @BeforeEach
    void pool(PostgresDatabase database) throws SQLException {
        db = FencedPool.of(database);
        lease = db.lead(7);
        cancelling = db.fenced.cancelOnLoss();
    }

    @AfterEach
    void close() {
        executor.shutdownNow();
        db.close();
    }

    private CompletableFuture<Void> run(FencedDataSource source, boolean autoCommit, String sql) {
        return CompletableFuture.runAsync(
                () -> {
                    try (Connection connection = source.getConnection()) {
                        connection.setAutoCommit(autoCommit);
                        Sql.execute(connection, sql);
                        if (!autoCommit) {
                            connection.commit();
                        }
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                executor);
    }

    private void awaitSlow(int statements) {
        await().atMost(Duration.ofSeconds(20))
                .until(() -> Sql.one(
                                db.plain,
                                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%'"
                                        + " AND state = 'active' AND pid <> pg_backend_pid()"
                                        + " AND datname = current_database()")
                        .equals(String.valueOf(statements)));
    }

    @Test
    void cancelsWhatRuns_andTheConnectionsAreHealthy() throws Exception {
        List<CompletableFuture<Void>> slow = new ArrayList<>();
        slow.add(run(cancelling, true, SLOW));
        slow.add(run(cancelling, false, "SELECT pg_sleep(30)"));
        awaitSlow(2);

        lease.lose();

        for (CompletableFuture<Void> each : slow) {
            assertThatThrownBy(() -> each.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(LeaseLostException.class);
        }
        assertThat(db.value()).isEqualTo("0");
        db.lead(8);
        for (int i = 0; i < 4; i++) {
            run(cancelling, false, "UPDATE t SET v = 2").get(20, TimeUnit.SECONDS);
        }
        assertThat(db.value()).isEqualTo("2");
    }

    @Test
    void aTransactionWhoseLeaseIsLostStartsNoStatement_andCanBeRolledBack() throws SQLException {
        try (Connection connection = cancelling.getConnection()) {
            connection.setAutoCommit(false);
            FencedPool.write(connection, 1);
            lease.lose();

            assertThatThrownBy(() -> FencedPool.write(connection, 2)).isInstanceOf(LeaseLostException.class);
            connection.rollback();
            assertThat(Sql.rows(connection, "SELECT v FROM t")).containsExactly("0");
        }
    }

    @Test
    void withoutTheOptionAStatementRunsToItsEnd_andTheFenceDecides() throws Exception {
        CompletableFuture<Void> slow = run(db.fenced, false, "UPDATE t SET v = 1 FROM pg_sleep(2)");
        awaitSlow(1);
        lease.lose();

        slow.get(20, TimeUnit.SECONDS);
        assertThat(db.value()).isEqualTo("1");
    }

    @Test
    void waitsForTheLossOfEachLeaseOnce_alsoWhereTwoTakeTurns() throws Exception {
        FakeLease other = FakeLease.of(7);
        for (int i = 0; i < 20; i++) {
            db.lease.set(i % 2 == 0 ? lease : other);
            run(cancelling, true, "SELECT 1").get(20, TimeUnit.SECONDS);
        }

        assertThat(lease.waitingForLoss()).isEqualTo(1);
        assertThat(other.waitingForLoss()).isEqualTo(1);
    }

    @Test
    void doesNotHitTheNextStatement() throws Exception {
        for (int round = 0; round < 30; round++) {
            FakeLease term = db.lead(100L + round);
            CompletableFuture<Void> quick = run(cancelling, true, "SELECT pg_sleep(0.005)");
            TimeUnit.MILLISECONDS.sleep(round % 10);
            term.lose();
            quick.exceptionally(refused -> null).get(20, TimeUnit.SECONDS);
            db.lease.set(FakeLease.of(100L + round));
            run(cancelling, true, "SELECT pg_sleep(0.002)").get(20, TimeUnit.SECONDS);
        }
    }
}
