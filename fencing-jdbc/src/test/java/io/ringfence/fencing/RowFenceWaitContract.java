package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stale write that waits for the row lock of the new leader, on every database that row fences work on. */
abstract class RowFenceWaitContract extends RowFenceFixture {
    private final ExecutorService executor = Executors.newCachedThreadPool();
    Connection leader;
    Connection stale;

    RowFenceWaitContract(FencedDatabase empty) {
        super(empty);
    }

    @BeforeEach
    void begin() throws SQLException {
        leader = dataSource.getConnection();
        stale = dataSource.getConnection();
        leader.setAutoCommit(false);
        stale.setAutoCommit(false);
    }

    @AfterEach
    void closeBoth() throws SQLException {
        executor.shutdownNow();
        leader.rollback();
        leader.close();
        stale.rollback();
        stale.close();
    }

    /** Lets the write wait for the leader's row, then commits the leader, and returns how the write ended. */
    void writeWhileTheLeaderHoldsTheRow(SqlAction write) throws Exception {
        fence.update(leader, FakeLease.of(7), CLOSE, "leader", 1);
        Future<?> waiting = executor.submit(() -> {
            write.run();
            return null;
        });
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> !Sql.one(dataSource, database.waiting()).equals("0") || waiting.isDone());
        leader.commit();
        try {
            waiting.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
        }
    }

    void staleWrite() throws SQLException {
        fence.update(stale, FakeLease.of(6), CLOSE, "stale", 1);
    }

    @Test
    void isSuperseded_atReadCommitted() throws SQLException {
        stale.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);

        assertThatThrownBy(() -> writeWhileTheLeaderHoldsTheRow(this::staleWrite))
                .cause()
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(7);
                });
    }

    @Test
    void overwritesTheLeader_withoutAFence() throws Exception {
        stale.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);

        writeWhileTheLeaderHoldsTheRow(() -> Sql.execute(stale, "UPDATE invoice SET status = 'stale' WHERE id = 1"));
        stale.commit();

        assertThat(invoice(1)).isEqualTo("stale|7");
    }

    @FunctionalInterface
    interface SqlAction {
        void run() throws SQLException;
    }
}
