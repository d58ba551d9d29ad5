package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A raise among eight writers of the same leader, whose transactions take 5 ms and a little. */
@ExtendWith(SharedServers.class)
class RaiseUnderLoadIT {
    private static final int WRITERS = 8;
    private static final int RAISES = 60;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger commits = new AtomicInteger();
    private final ExecutorService executor = Executors.newFixedThreadPool(WRITERS);
    private HikariDataSource pool;

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException, InterruptedException {
        pool = new HikariDataSource();
        pool.setDataSource(database.dataSource());
        pool.setMaximumPoolSize(WRITERS + 2);
        Sql.execute(
                pool,
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE counter (id int PRIMARY KEY, v int)",
                "INSERT INTO counter SELECT i, 0 FROM generate_series(0, 99) i");
        ResourceFence.on(pool, "counter").raise(FakeLease.of(1));
    }

    @AfterEach
    void stop() throws InterruptedException {
        stop.set(true);
        executor.shutdownNow();
        assertThat(executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        pool.close();
    }

    private Void write(ResourceFence fence, int writer) throws SQLException, InterruptedException {
        while (!stop.get()) {
            fence.<InterruptedException>useTransaction(FakeLease.of(1), connection -> work(connection, writer));
            commits.incrementAndGet();
        }
        return null;
    }

    private static void work(Connection connection, int writer) throws SQLException, InterruptedException {
        Sql.execute(connection, "UPDATE counter SET v = v + 1 WHERE id = " + writer);
        TimeUnit.MILLISECONDS.sleep(5);
    }

    @ParameterizedTest
    @EnumSource
    void aRaiseIsNotStarved_byTheWritersOfTheLeader(SealMode mode) throws Exception {
        ResourceFence fence = ResourceFence.on(pool, "counter").sealMode(mode);
        assertThat(fence.sealMode()).isEqualTo(mode);
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            int writer = i;
            writers.add(executor.submit(() -> write(fence, writer)));
        }
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < RAISES; i++) {
            TimeUnit.MILLISECONDS.sleep(10);
            long start = System.nanoTime();
            fence.raise(FakeLease.of(1));
            millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        }
        Collections.sort(millis);
        stop.set(true);
        for (Future<?> writer : writers) {
            writer.get(20, TimeUnit.SECONDS);
        }

        System.out.println("raise among " + WRITERS + " writers, " + mode + ", ms: p50 " + millis.get(RAISES / 2)
                + ", p95 " + millis.get(RAISES * 95 / 100) + ", max " + millis.get(RAISES - 1));
        assertThat(commits).hasValueGreaterThan(100);
        // 100 ms is what is promised; the machine may be busy with other things
        assertThat(millis.get(RAISES * 95 / 100)).as("p95 in ms").isLessThan(250);
    }
}
