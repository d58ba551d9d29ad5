package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Eight writers with the token of a leader, and a new leader that raises the fence. A commit is stale if it succeeded
 * although a raise above its token had returned before COMMIT was sent, and late if it became visible after that. Each
 * COMMIT is sent late, so that a raise has time to slip in between.
 */
@ExtendWith(SharedServers.class)
class ResourceFenceRaceIT {
    private static final int WRITERS = 8;
    private static final int RAISES = 60;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong raised = new AtomicLong(1);
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicInteger staleCommits = new AtomicInteger();
    private final AtomicLong lateCommits = new AtomicLong();
    private final AtomicInteger refusals = new AtomicInteger();
    private final Map<Thread, Long> raisedAtCommit = new ConcurrentHashMap<>();
    private ExecutorService executor;
    private HikariDataSource pool;
    private DataSource dataSource;
    private ResourceFence fence;
    private ResourceFence raising;

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException, InterruptedException {
        executor = Executors.newCachedThreadPool();
        pool = pool(database);
        dataSource = Wrapped.before(pool, "commit", this::beforeCommit);
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE counter (id int PRIMARY KEY, v int, token bigint)",
                "INSERT INTO counter SELECT i, 0, 0 FROM generate_series(0, 99) i",
                "CREATE TABLE history (id bigserial PRIMARY KEY, token bigint)");
        fence = ResourceFence.on(dataSource, "counter");
        raising = ResourceFence.on(pool, "counter");
        raising.raise(FakeLease.of(1));
    }

    /** The message that ends with COMMIT is sent right after the driver's connection was asked for. */
    private void sealBy(SealMode mode) throws SQLException {
        DataSource late =
                mode == SealMode.WITH_COMMIT ? Wrapped.before(pool, "unwrap", this::beforeCommit) : dataSource;
        fence = ResourceFence.on(late, "counter").sealMode(mode);
        assertThat(fence.sealMode()).isEqualTo(mode);
    }

    private static HikariDataSource pool(PostgresDatabase database) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(database.dataSource());
        pool.setMaximumPoolSize(WRITERS + 2);
        return pool;
    }

    @AfterEach
    void stop() throws InterruptedException {
        stop.set(true);
        executor.shutdownNow();
        assertThat(executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        pool.close();
    }

    private static void work(Connection connection, int writer, long token) throws SQLException {
        Sql.execute(
                connection,
                "UPDATE counter SET v = v + 1, token = " + token + " WHERE id = " + writer,
                "INSERT INTO history (token) VALUES (" + token + ")");
        try {
            TimeUnit.MILLISECONDS.sleep(5);
        } catch (InterruptedException e) {
            throw new SQLException("stopped", e);
        }
    }

    private void beforeCommit() {
        try {
            TimeUnit.MILLISECONDS.sleep(2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        raisedAtCommit.put(Thread.currentThread(), raised.get());
    }

    /** A way to run work with a token. */
    private interface Transaction {
        void run(long token, ResourceFence.Action<SQLException> work) throws SQLException;
    }

    private Void write(int writer, Transaction transaction) {
        while (!stop.get()) {
            long token = raised.get();
            try {
                transaction.run(token, connection -> work(connection, writer, token));
                commits.incrementAndGet();
                staleCommits.addAndGet(raisedAtCommit.getOrDefault(Thread.currentThread(), 0L) > token ? 1 : 0);
            } catch (FencedOutException e) {
                refusals.incrementAndGet();
            } catch (SQLException e) {
                if (FenceSchema.STALE_SQLSTATE.equals(e.getSQLState())) {
                    refusals.incrementAndGet();
                } else if (!stop.get()) {
                    throw new IllegalStateException(e);
                }
            }
        }
        return null;
    }

    private void sealed(long token, ResourceFence.Action<SQLException> action) throws SQLException {
        fence.useTransaction(FakeLease.of(token), action);
    }

    /** Knows no fence; the database has a guard. */
    private void told(long token, ResourceFence.Action<SQLException> action) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(connection, "SET LOCAL ringfence.token = '" + token + "'");
            action.run(connection);
            connection.commit();
        }
    }

    /** The control: compares the tokens as the seal does, but takes no lock, and does it before the work. */
    private void unsealed(long token, ResourceFence.Action<SQLException> action) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            String fenced =
                    Sql.rows(connection, "SELECT token FROM ringfence_fence").get(0);
            if (Long.parseLong(fenced) == token) {
                action.run(connection);
                connection.commit();
            } else {
                connection.rollback();
                refusals.incrementAndGet();
            }
        }
    }

    private List<Future<?>> startWriters(Transaction transaction) {
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            int writer = i;
            writers.add(executor.submit(() -> write(writer, transaction)));
        }
        return writers;
    }

    private List<Long> raiseUnderLoad(Transaction transaction) throws Exception {
        List<Future<?>> writers = startWriters(transaction);
        List<Long> millis = new ArrayList<>();
        Map<Integer, Long> older = new HashMap<>();
        for (int token = 2; token <= RAISES + 1; token++) {
            TimeUnit.MILLISECONDS.sleep(20);
            long start = System.nanoTime();
            raising.raise(FakeLease.of(token));
            millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            raised.set(token);
            older.put(token, committedBefore(token));
        }
        stop.set(true);
        for (Future<?> writer : writers) {
            writer.get(20, TimeUnit.SECONDS);
        }
        Collections.sort(millis);
        for (Map.Entry<Integer, Long> seen : older.entrySet()) {
            lateCommits.addAndGet(committedBefore(seen.getKey()) - seen.getValue());
        }
        return millis;
    }

    private long committedBefore(int token) throws SQLException {
        return Long.parseLong(Sql.one(pool, "SELECT count(*) FROM history WHERE token < " + token));
    }

    @ParameterizedTest
    @EnumSource
    void noOlderTransactionCommits_afterARaiseHasReturned(SealMode mode) throws Exception {
        sealBy(mode);
        List<Long> millis = raiseUnderLoad(this::sealed);

        assertThat(staleCommits).hasValue(0);
        assertThat(lateCommits).hasValue(0);
        assertThat(commits).hasValueGreaterThan(100);
        assertThat(refusals).hasValueGreaterThan(10);
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM history")).isEqualTo(String.valueOf(commits.get()));
        assertThat(Sql.one(dataSource, "SELECT sum(v) FROM counter")).isEqualTo(String.valueOf(commits.get()));
        System.out.println("raise under load of " + WRITERS + " writers, ms: p50 " + millis.get(RAISES / 2) + ", p95 "
                + millis.get(RAISES * 95 / 100) + ", max " + millis.get(RAISES - 1) + "; " + commits + " commits, "
                + refusals + " refused");
    }

    @Test
    void noOlderTransactionOfAPlainConnectionCommits_whereCommitsAreGuarded() throws Exception {
        FenceSchema schema = FenceSchema.postgres().inSchema("public");
        Sql.execute(
                pool,
                schema.commitGuard("counter", "counter"),
                schema.commitGuard("history", "counter"),
                "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN PERFORM pg_sleep(0.003); RETURN NULL; END'",
                "CREATE CONSTRAINT TRIGGER zzz_between_check_and_commit AFTER INSERT ON history"
                        + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()");

        assertThat(raiseUnderLoad(this::told)).hasSize(RAISES);

        assertThat(staleCommits).hasValue(0);
        assertThat(lateCommits).hasValue(0);
        assertThat(commits).hasValueGreaterThan(100);
        assertThat(refusals).hasValueGreaterThan(10);
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM history")).isEqualTo(String.valueOf(commits.get()));
        System.out.println("plain connections with a guard: " + commits + " commits, " + refusals + " refused");
    }

    @Test
    void olderTransactionsCommit_withoutTheSeal() throws Exception {
        List<Long> unused = raiseUnderLoad(this::unsealed);

        assertThat(unused).hasSize(RAISES);
        assertThat(staleCommits).hasValueGreaterThan(0);
        System.out.println("control without a seal: " + staleCommits + " stale of " + commits + " commits");
    }
}
