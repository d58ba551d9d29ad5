package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.internal.Dialect;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a fenced update costs beside the same statement written by hand. The bounds are three times what is aimed at. */
@ExtendWith(SharedServers.class)
class RowFenceOverheadIT {
    private static final int PAIRS = Integer.getInteger("overhead.pairs", 9);
    private static final int UPDATES = Integer.getInteger("overhead.updates", 1_000);
    private static final String SQL = "UPDATE item SET v = ? WHERE id = ?";
    private static final String BY_HAND =
            "UPDATE item SET v = ?, fencing_token = ? WHERE id = ? AND fencing_token <= ?";

    private final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    private final FakeLease lease = FakeLease.of(7);

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    void aFencedUpdateCostsLittleMoreThanOneByHand(int connections, PostgresDatabase database) throws Exception {
        Sql.execute(
                database.dataSource(),
                "CREATE TABLE item (id int PRIMARY KEY, v int, fencing_token bigint NOT NULL DEFAULT 0)",
                "INSERT INTO item SELECT i, 0, 0 FROM generate_series(0, 7) i");
        List<Connection> open = new ArrayList<>();
        ExecutorService executor = Executors.newFixedThreadPool(connections);
        try {
            for (int i = 0; i < connections; i++) {
                Connection connection = database.dataSource().getConnection();
                connection.setAutoCommit(false);
                open.add(connection);
            }
            List<Double> ratios = new ArrayList<>();
            for (int pair = -2; pair < PAIRS; pair++) {
                boolean fencedFirst = pair % 2 == 0;
                double first = run(executor, open, fencedFirst);
                double second = run(executor, open, !fencedFirst);
                if (pair >= 0) {
                    ratios.add(fencedFirst ? first / second : second / first);
                }
            }
            Collections.sort(ratios);
            double median = ratios.get(ratios.size() / 2);
            System.out.printf(
                    "row-fenced / by hand, %d connections, %d pairs of %,d updates: median %.3f, %.3f to %.3f%n",
                    connections, PAIRS, UPDATES, median, ratios.get(0), ratios.get(ratios.size() - 1));
            assertThat(median).isLessThan(3 * 1.05);
        } finally {
            executor.shutdownNow();
            for (Connection connection : open) {
                connection.close();
            }
        }
    }

    private double run(ExecutorService executor, List<Connection> connections, boolean fenced) throws Exception {
        long start = System.nanoTime();
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < connections.size(); i++) {
            int id = i;
            running.add(executor.submit(() -> {
                for (int update = 0; update < UPDATES; update++) {
                    if (fenced) {
                        fence.update(connections.get(id), lease, SQL, update, id);
                    } else {
                        byHand(connections.get(id), update, id);
                    }
                }
                connections.get(id).rollback();
                return null;
            }));
        }
        for (Future<?> future : running) {
            future.get();
        }
        return System.nanoTime() - start;
    }

    private void byHand(Connection connection, int value, int id) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(BY_HAND)) {
            update.setInt(1, value);
            update.setLong(2, lease.requireToken().value());
            update.setInt(3, id);
            update.setLong(4, lease.requireToken().value());
            if (update.executeUpdate() != 1) {
                throw new IllegalStateException("refused");
            }
        }
    }

    @Test
    void aCachedStatementIsFencedInNoTime(PostgresDatabase database) throws SQLException {
        int rounds = 200_000;
        try (Connection connection = database.dataSource().getConnection()) {
            long best = Long.MAX_VALUE;
            int length = 0;
            for (int round = 0; round < 10; round++) {
                long start = System.nanoTime();
                for (int i = 0; i < rounds; i++) {
                    length += fence.compile(Dialect.of(connection), SQL)
                            .fenced()
                            .sql()
                            .length();
                }
                best = Math.min(best, System.nanoTime() - start);
            }
            System.out.printf("a cached statement, dialect lookup included: %d ns%n", best / rounds);
            assertThat(length).isPositive();
            assertThat(best / rounds).isLessThan(3_000);
        }
    }
}
