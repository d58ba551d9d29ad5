package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stale write that waits for the row lock of the new leader. */
@ExtendWith(SharedServers.class)
class RowFenceRaceIT {
    private static final String UPDATE = "UPDATE invoice SET status = ? WHERE id = ?";

    private final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private DataSource dataSource;
    private Connection leader;
    private Connection stale;

    @BeforeEach
    void table(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                FenceSchema.postgres().tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5)");
        leader = dataSource.getConnection();
        stale = dataSource.getConnection();
        leader.setAutoCommit(false);
        stale.setAutoCommit(false);
    }

    @AfterEach
    void close() throws SQLException {
        executor.shutdownNow();
        leader.close();
        stale.close();
    }

    /** Lets the write wait for the leader's row, then commits the leader, and returns how the write ended. */
    private void writeWhileTheLeaderHoldsTheRow(SqlAction write) throws Exception {
        fence.update(leader, FakeLease.of(7), UPDATE, "leader", 1);
        Future<?> waiting = executor.submit(() -> {
            write.run();
            return null;
        });
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> Sql.one(
                                dataSource,
                                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname ="
                                        + " current_database()")
                        .equals("1"));
        leader.commit();
        try {
            waiting.get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new CompletionException(e.getCause());
        }
    }

    private String invoice() throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice");
    }

    @Test
    void isSuperseded_atReadCommitted() {
        assertThatThrownBy(() ->
                        writeWhileTheLeaderHoldsTheRow(() -> fence.update(stale, FakeLease.of(6), UPDATE, "stale", 1)))
                .cause()
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(7);
                });
    }

    @Test
    void overwritesTheLeader_withoutAFence() throws Exception {
        writeWhileTheLeaderHoldsTheRow(() -> Sql.execute(stale, "UPDATE invoice SET status = 'stale' WHERE id = 1"));
        stale.commit();

        assertThat(invoice()).isEqualTo("stale|7");
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void isASerializationFailure_atHigherIsolation(int isolation) throws SQLException {
        stale.setTransactionIsolation(isolation);

        assertThatThrownBy(() ->
                        writeWhileTheLeaderHoldsTheRow(() -> fence.update(stale, FakeLease.of(6), UPDATE, "stale", 1)))
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        stale.rollback();
        assertThat(invoice()).isEqualTo("leader|7");
    }

    @FunctionalInterface
    private interface SqlAction {
        void run() throws SQLException;
    }
}
