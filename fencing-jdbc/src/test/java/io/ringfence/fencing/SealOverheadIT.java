package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a sealed transaction costs beside the same plain one. All ways take turns, in random order, so that what else the
 * machine does hits them alike. The bound is a third of the throughput aimed at.
 */
@ExtendWith(SharedServers.class)
class SealOverheadIT {
    private static final String PLAIN = "plain";
    private static final int ROUNDS = Integer.getInteger("overhead.rounds", 15);
    private static final int WARM_UP = 5;
    private static final int TRANSACTIONS = Integer.getInteger("overhead.transactions", 800);

    private final FakeLease lease = FakeLease.of(7);

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    void aSealedTransactionCostsLittleMoreThanAPlainOne(int connections, PostgresDatabase database) throws Exception {
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE item (id int PRIMARY KEY, v int)",
                "CREATE TABLE log (item int, v int)",
                "INSERT INTO item SELECT i, 0 FROM generate_series(0, 7) i");
        ResourceFence.on(database.dataSource(), "items").raise(lease);
        ExecutorService executor = Executors.newFixedThreadPool(connections);
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(database.dataSource());
            pool.setMaximumPoolSize(connections);
            Map<String, Transaction> ways = new LinkedHashMap<>();
            ways.put(PLAIN, id -> plain(pool, id));
            for (SealMode mode : SealMode.values()) {
                ResourceFence fence = ResourceFence.on(pool, "items").sealMode(mode);
                assertThat(fence.sealMode()).isEqualTo(mode);
                ways.put(mode.name(), id -> fence.useTransaction(lease, connection -> work(connection, id)));
            }
            Map<String, List<Double>> nanos = measure(executor, connections, ways);
            for (SealMode mode : SealMode.values()) {
                double ratio = print(connections, mode, nanos);
                assertThat(ratio).as("%s", mode).isGreaterThan(0.80 / 3);
            }
        } finally {
            executor.shutdownNow();
        }
    }

    private static Map<String, List<Double>> measure(
            ExecutorService executor, int connections, Map<String, Transaction> ways) throws Exception {
        Map<String, List<Double>> nanos = new HashMap<>();
        List<String> order = new ArrayList<>(ways.keySet());
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            Collections.shuffle(order);
            for (String way : order) {
                double taken = run(executor, connections, Objects.requireNonNull(ways.get(way)));
                if (round >= 0) {
                    nanos.computeIfAbsent(way, unused -> new ArrayList<>()).add(taken);
                }
            }
        }
        return nanos;
    }

    /** Returns the median over the rounds of the throughput beside that of the plain transactions of the same round. */
    private static double print(int connections, SealMode mode, Map<String, List<Double>> nanos) {
        List<Double> plain = Objects.requireNonNull(nanos.get(PLAIN));
        List<Double> sealed = Objects.requireNonNull(nanos.get(mode.name()));
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            ratios.add(plain.get(round) / sealed.get(round));
        }
        Collections.sort(ratios);
        double median = ratios.get(ROUNDS / 2);
        System.out.printf(
                "throughput sealed / plain, %s, %d connections, %d rounds of %,d transactions: median %.3f,"
                        + " %.3f to %.3f; plain %.0f us%n",
                mode,
                connections,
                ROUNDS,
                TRANSACTIONS,
                median,
                ratios.get(0),
                ratios.get(ROUNDS - 1),
                plain.stream().mapToDouble(Double::doubleValue).average().orElseThrow() / TRANSACTIONS / 1_000);
        return median;
    }

    /** Runs all transactions on as many threads, and returns the nanoseconds that it takes. */
    private static double run(ExecutorService executor, int connections, Transaction transaction) throws Exception {
        long start = System.nanoTime();
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            int id = i;
            running.add(executor.submit(() -> {
                for (int n = 0; n < TRANSACTIONS / connections; n++) {
                    transaction.run(id);
                }
                return null;
            }));
        }
        for (Future<?> future : running) {
            future.get();
        }
        return System.nanoTime() - start;
    }

    private interface Transaction {
        void run(int id) throws SQLException;
    }

    private static void plain(DataSource pool, int id) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            work(connection, id);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static void work(Connection connection, int id) throws SQLException {
        for (String sql : List.of(
                "SELECT v FROM item WHERE id = ?",
                "UPDATE item SET v = v + 1 WHERE id = ?",
                "INSERT INTO log SELECT id, v FROM item WHERE id = ?")) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setInt(1, id);
                statement.execute();
            }
        }
    }
}
