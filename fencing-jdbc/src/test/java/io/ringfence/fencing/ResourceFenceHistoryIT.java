package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.FenceHistory.Commit;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.PostgresServer;
import io.ringfence.servers.TcpProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Eight writers with the token of a leader that has just been replaced or soon will be, and two hundred raises. Seven
 * are threads, whose connections are held up at random, also with COMMIT on its way; one is a process, which is frozen at
 * random and killed once, and another takes its place. A commit is stale if a raise above its token, or a write with a
 * higher one, was committed before it; the server's log knows.
 */
class ResourceFenceHistoryIT {
    private static final int THREADS = 7;
    private static final int RAISES = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static PostgresServer server;

    private final long seed = Long.getLong("history.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong raised = new AtomicLong(1);
    private final Map<Integer, Queue<String>> outcomes = new ConcurrentHashMap<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<Long> millis = new ArrayList<>();
    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(THREADS + 2);
    private PostgresDatabase database;
    private FenceHistory history;

    @BeforeAll
    static void start() {
        server = PostgresServer.start(Map.of("wal_level", "logical"));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void tables() throws Exception {
        database = server.createDatabase();
        history = new FenceHistory(database);
        ResourceFence.on(database.dataSource(), "history").raise(FakeLease.of(1));
    }

    @AfterEach
    void stop() throws Exception {
        stop.set(true);
        executor.shutdownNow();
        // a writer that was left with its requests held up ends only with its connection
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
        assertThat(executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }

    private Future<?> startThread(int id, @Nullable SealMode mode) throws Exception {
        TcpProxy proxy = TcpProxy.to(database.port());
        open.add(proxy);
        Connection connection = DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name(),
                database.user(),
                database.password());
        open.add(connection);
        Queue<String> mine = outcomes.computeIfAbsent(id, key -> new ConcurrentLinkedQueue<>());
        HistoryWriter writer = new HistoryWriter(
                id, connection, mode, raised::get, time -> holdUp(proxy, time), new Random(seed + id));
        return executor.submit(() -> {
            writer.run(stop::get, mine::add);
            return null;
        });
    }

    private void holdUp(TcpProxy proxy, int time) {
        proxy.holdRequests();
        Future<?> unused = executor.schedule(proxy::pass, time, TimeUnit.MILLISECONDS);
    }

    private ChildJvm startProcess(int id, @Nullable SealMode mode) {
        ChildJvm process = ChildJvm.start(
                HistoryProcess.class,
                List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"),
                database.jdbcUrl(),
                database.user(),
                String.valueOf(id),
                HistoryWriter.mode(mode),
                String.valueOf(seed + id));
        open.add(process);
        Queue<String> mine = outcomes.computeIfAbsent(id, key -> new ConcurrentLinkedQueue<>());
        process.onLine(mine::add);
        process.send(database.password());
        process.send(String.valueOf(raised.get()));
        return process;
    }

    private List<Commit> run(@Nullable SealMode mode) throws Exception {
        System.out.println("history of " + HistoryWriter.mode(mode) + ", -Dhistory.seed=" + seed);
        ChildJvm process = startProcess(THREADS, mode);
        process.awaitLine(HistoryWriter.COMMITTED, PATIENCE);
        List<Future<?>> threads = new ArrayList<>();
        for (int id = 0; id < THREADS; id++) {
            threads.add(startThread(id, mode));
        }
        ResourceFence raising = ResourceFence.on(database.dataSource(), "history");
        Future<?> thaw = CompletableFuture.completedFuture(null);
        int killAt = RAISES / 4 + random.nextInt(RAISES / 4);
        for (int token = 2; token <= RAISES + 1; token++) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(15));
            long start = System.nanoTime();
            raising.raise(FakeLease.of(token));
            millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            raised.set(token);
            if (token == killAt) {
                process.kill();
                process = startProcess(THREADS + 1, mode);
            }
            process.send(String.valueOf(token));
            // not while it is frozen: it would be thawed on the way into the next frost
            if (random.nextInt(20) == 0 && thaw.isDone()) {
                process.freeze();
                thaw = executor.schedule(process::resume, 1 + random.nextInt(100), TimeUnit.MILLISECONDS);
            }
        }
        stop.set(true);
        for (Future<?> thread : threads) {
            thread.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        process.resume();
        process.send(HistoryProcess.STOP);
        process.awaitLine(HistoryProcess.STOPPED, PATIENCE);
        return history.commits();
    }

    private List<Integer> told(int writer, String outcome) {
        return outcomes.getOrDefault(writer, new ConcurrentLinkedQueue<>()).stream()
                .filter(line -> line.startsWith(outcome))
                .map(line -> Integer.parseInt(line.substring(outcome.length())))
                .toList();
    }

    private static List<Integer> committed(List<Commit> commits, int writer) {
        return commits.stream()
                .filter(commit -> !commit.raise() && commit.writer() == writer)
                .map(Commit::number)
                .toList();
    }

    private int refusals() {
        return outcomes.keySet().stream()
                .mapToInt(id -> told(id, HistoryWriter.REFUSED).size())
                .sum();
    }

    private void print(List<Commit> commits) {
        Collections.sort(millis);
        System.out.println("  raises, ms: p50 " + millis.get(RAISES / 2) + ", p95 " + millis.get(RAISES * 95 / 100)
                + ", max " + millis.get(RAISES - 1) + "; " + (commits.size() - RAISES - 1) + " commits, " + refusals()
                + " refused, " + FenceHistory.stale(commits).size() + " stale");
    }

    /** Whoever was told of a commit finds it, and nobody finds one that was refused, or half of one. */
    private void everyOutcomeIsTrue(List<Commit> commits) throws Exception {
        for (int id : outcomes.keySet()) {
            if (id == THREADS) {
                assertThat(committed(commits, id)).containsAll(told(id, HistoryWriter.COMMITTED));
                assertThat(committed(commits, id)).doesNotContainAnyElementsOf(told(id, HistoryWriter.REFUSED));
            } else {
                assertThat(committed(commits, id)).isEqualTo(told(id, HistoryWriter.COMMITTED));
            }
        }
        assertThat(Sql.one(database.dataSource(), "SELECT sum(v) FROM counter"))
                .isEqualTo(Sql.one(database.dataSource(), "SELECT count(*) FROM history"))
                .isEqualTo(String.valueOf(commits.size() - RAISES - 1));
    }

    @ParameterizedTest
    @EnumSource
    void nothingOlderIsCommitted_afterARaise(SealMode mode) throws Exception {
        List<Commit> commits = run(mode);
        print(commits);

        assertThat(FenceHistory.stale(commits)).isEmpty();
        everyOutcomeIsTrue(commits);
        assertThat(commits.stream().filter(Commit::raise).map(Commit::token)).hasSize(RAISES + 1);
        assertThat(commits.size() - RAISES - 1).isGreaterThan(RAISES);
        assertThat(refusals()).isGreaterThan(RAISES / 4);
        assertThat(committed(commits, THREADS + 1)).as("of the second process").isNotEmpty();
    }

    @Test
    void olderWritesAreCommitted_withoutTheSeal() throws Exception {
        List<Commit> commits = run(null);
        print(commits);

        assertThat(FenceHistory.stale(commits)).isNotEmpty();
        everyOutcomeIsTrue(commits);
    }
}
