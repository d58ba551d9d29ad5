package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.ds.PGSimpleDataSource;

/** Raises by statements of our own; {@link RaiseByFunctionIT} does it by the function. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class RaiseIT {
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private DataSource dataSource;
    private ResourceFence fence;

    @BeforeEach
    void table(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        Sql.execute(dataSource, FenceSchema.postgres().fenceTable());
        if (byFunction()) {
            Sql.execute(dataSource, FenceSchema.postgres().inSchema("public").fenceFunctions());
        }
        fence = ResourceFence.on(dataSource, "invoices");
    }

    boolean byFunction() {
        return false;
    }

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    private String row() throws SQLException {
        return Sql.one(dataSource, "SELECT election, token, holder FROM ringfence_fence");
    }

    @Test
    void onlyGrows() throws Exception {
        fence.raise(FakeLease.of(7));
        fence.raise(FakeLease.of(7));
        assertThat(row()).isEqualTo("invoices|7|process-7");
        fence.raise(FakeLease.of(9));

        assertThatThrownBy(() -> fence.raise(FakeLease.of(8))).isInstanceOfSatisfying(FencedOutException.class, e -> {
            assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
            assertThat(e.presented().value()).isEqualTo(8);
            assertThat(e.observed()).hasValue(9);
        });
        assertThatThrownBy(() -> fence.raise(FakeLease.of(8).confirming(Confirmation.CONFIRMED)))
                .isInstanceOf(TokenRegressionException.class);
        assertThat(row()).isEqualTo("invoices|9|process-9");
    }

    @Test
    void refusesAnotherElection_andALostLease() throws Exception {
        fence.raise(FakeLease.of(7));
        FakeLease lost = FakeLease.of(8);
        lost.lose();

        assertThatThrownBy(() -> fence.raise(new FakeLease("payments", 99)))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("election 'payments'");
        assertThatThrownBy(() -> fence.raise(lost)).isInstanceOf(LeaseLostException.class);
        assertThat(row()).isEqualTo("invoices|7|process-7");
    }

    @Test
    void endsAtTheMaximum_whateverTheOrder() throws Exception {
        List<Integer> tokens =
                new ArrayList<>(IntStream.rangeClosed(1, 40).boxed().toList());
        Collections.shuffle(tokens, new Random(7));
        List<Future<?>> raises = new ArrayList<>();
        for (int token : tokens) {
            raises.add(executor.submit(() -> {
                try {
                    fence.raise(FakeLease.of(token));
                } catch (FencedOutException e) {
                    assertThat(e.observed().orElseThrow()).isGreaterThan(token);
                }
                return null;
            }));
        }
        for (Future<?> raise : raises) {
            raise.get(60, TimeUnit.SECONDS);
        }
        assertThat(row()).startsWith("invoices|40|");
    }

    @Test
    void endsAtTheMaximum_whenTwoProcessesRaiseInRandomOrder(PostgresDatabase database) throws Exception {
        Sql.execute(database.dataSource(), FenceSchema.postgres().fenceTable());
        if (byFunction()) {
            Sql.execute(
                    database.dataSource(),
                    FenceSchema.postgres().inSchema("public").fenceFunctions());
        }
        List<ChildJvm> processes = new ArrayList<>();
        try {
            for (int seed = 1; seed <= 2; seed++) {
                List<String> arguments = new ArrayList<>(
                        IntStream.rangeClosed(1, 40).mapToObj(String::valueOf).toList());
                Collections.shuffle(arguments, new Random(seed));
                arguments.addAll(0, List.of(database.jdbcUrl(), database.user()));
                ChildJvm process =
                        ChildJvm.start(RaiseProcess.class, List.of("-Xmx64m"), arguments.toArray(String[]::new));
                processes.add(process);
                process.send(database.password());
            }
            for (ChildJvm process : processes) {
                process.awaitLine(RaiseProcess.DONE, Duration.ofSeconds(60));
                assertThat(process.lines()).anyMatch(line -> line.startsWith("refused"));
            }
        } finally {
            processes.forEach(ChildJvm::close);
        }
        assertThat(Sql.one(database.dataSource(), "SELECT token FROM ringfence_fence"))
                .isEqualTo("40");
    }

    @Test
    void waitsForASealedTransaction_andSaysSoWhenTheTimeIsUp() throws Exception {
        fence.raise(FakeLease.of(7));
        try (Connection frozen = dataSource.getConnection()) {
            frozen.setAutoCommit(false);
            Sql.rows(frozen, "SELECT * FROM ringfence_fence FOR SHARE");

            assertThatThrownBy(() -> fence.raiseTimeout(Duration.ofMillis(300)).raise(FakeLease.of(8)))
                    .isInstanceOf(FencingException.class)
                    .hasMessageContaining("pg_stat_activity")
                    .hasCauseInstanceOf(SQLException.class);
            Future<?> patient = executor.submit(() -> {
                fence.raise(FakeLease.of(8));
                return null;
            });
            assertThat(row()).isEqualTo("invoices|7|process-7");
            frozen.rollback();
            patient.get(20, TimeUnit.SECONDS);
        }
        assertThat(row()).isEqualTo("invoices|8|process-8");
    }

    @Test
    void namesWhoBlocksIt_whenTheTimeIsUp(PostgresDatabase database) throws Exception {
        DataSource frozenSource = configured(database, "ApplicationName=stuck batch");
        ResourceFence patient =
                ResourceFence.on(database.dataSource(), "invoices").raiseTimeout(Duration.ofSeconds(4));
        Sql.execute(database.dataSource(), FenceSchema.postgres().fenceTable());
        patient.raise(FakeLease.of(7));
        try (Connection frozen = frozenSource.getConnection()) {
            frozen.setAutoCommit(false);
            String pid = Sql.rows(frozen, "SELECT pg_backend_pid() FROM ringfence_fence FOR SHARE")
                    .get(0);

            assertThatThrownBy(() -> patient.raise(FakeLease.of(8)))
                    .isInstanceOf(FencingException.class)
                    .hasMessageContaining("is blocked by pid " + pid + " (application 'stuck batch', role 'postgres', "
                            + "idle in transaction, last query: SELECT pg_backend_pid()");
            assertThat(Sql.one(database.dataSource(), "SELECT pg_terminate_backend(" + pid + ")"))
                    .isEqualTo("t");
            patient.raise(FakeLease.of(8));
        }
        assertThat(Sql.one(database.dataSource(), "SELECT token FROM ringfence_fence"))
                .isEqualTo("8");
    }

    @Test
    void saysWhyItDoesNotKnowWhoBlocksIt_whenThereIsNoSecondConnection(PostgresDatabase database) throws Exception {
        Sql.execute(database.dataSource(), FenceSchema.postgres().fenceTable());
        ResourceFence.on(database.dataSource(), "invoices").raise(FakeLease.of(7));
        try (Connection frozen = database.dataSource().getConnection();
                HikariDataSource pool = new HikariDataSource()) {
            frozen.setAutoCommit(false);
            Sql.rows(frozen, "SELECT * FROM ringfence_fence FOR SHARE");
            pool.setDataSource(database.dataSource());
            pool.setMaximumPoolSize(1);
            ResourceFence single = ResourceFence.on(pool, "invoices").raiseTimeout(Duration.ofSeconds(2));

            assertThatThrownBy(() -> single.raise(FakeLease.of(8)))
                    .isInstanceOf(FencingException.class)
                    .hasMessageContaining("Who blocks it is not known, because a second connection");
        }
    }

    @Test
    void asksInThreadsOfTheFactory_thatEndWithTheRaise() throws Exception {
        List<Thread> threads = new ArrayList<>();
        fence.threadFactory(job -> {
                    Thread thread = new Thread(job, "mine");
                    threads.add(thread);
                    return thread;
                })
                .raise(FakeLease.of(7));

        assertThat(threads).hasSize(1);
        threads.get(0).join(2_500); // it would ask after four seconds
        assertThat(threads.get(0).isAlive()).isFalse();
    }

    private static DataSource configured(PostgresDatabase database, String settings) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.jdbcUrl() + "?" + settings);
        source.setUser(database.user());
        source.setPassword(database.password());
        return source;
    }

    @Test
    void goesOn_afterASingleTryTimedOut() throws Exception {
        fence.raise(FakeLease.of(7));
        try (Connection frozen = dataSource.getConnection()) {
            frozen.setAutoCommit(false);
            Sql.rows(frozen, "SELECT * FROM ringfence_fence FOR SHARE");
            Future<?> raise = executor.submit(() -> {
                fence.raise(FakeLease.of(8));
                return null;
            });
            cancelWaitingBackends("pg_cancel_backend");
            cancelWaitingBackends("pg_terminate_backend");
            frozen.rollback();
            raise.get(20, TimeUnit.SECONDS);
        }
        assertThat(row()).isEqualTo("invoices|8|process-8");
    }

    private void cancelWaitingBackends(String function) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> Sql.rows(
                                        dataSource,
                                        "SELECT " + function + "(pid) FROM pg_stat_activity WHERE wait_event_type ="
                                                + " 'Lock' AND datname = current_database()")
                                .size()
                        == 1);
    }

    @Test
    void stops_whenTheLeaseIsLostOrTheThreadInterrupted() throws Exception {
        fence.raise(FakeLease.of(7));
        try (Connection frozen = dataSource.getConnection()) {
            frozen.setAutoCommit(false);
            Sql.rows(frozen, "SELECT * FROM ringfence_fence FOR SHARE");
            FakeLease lease = FakeLease.of(8);
            Future<?> raise = executor.submit(() -> {
                fence.raise(lease);
                return null;
            });
            Awaitility.await()
                    .until(() -> Sql.one(
                                    dataSource, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                            .equals("1"));
            lease.lose();
            cancelWaitingBackends("pg_cancel_backend");
            assertThatThrownBy(() -> raise.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LeaseLostException.class);

            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> fence.raise(FakeLease.of(8))).isInstanceOf(InterruptedException.class);
        }
        assertThat(row()).isEqualTo("invoices|7|process-7");
    }

    @Test
    void isDurable_whereOtherCommitsAreNot() throws Exception {
        Sql.execute(
                dataSource,
                "CREATE TABLE seen (setting text)",
                "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
                        + " INSERT INTO public.seen VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END'",
                "CREATE TRIGGER note BEFORE UPDATE ON ringfence_fence FOR EACH ROW EXECUTE FUNCTION note()");
        fence.raise(FakeLease.of(7));
        for (String setting : List.of("off", "local", "on", "remote_apply")) {
            DataSource configured = Wrapped.of(
                    dataSource, connection -> Sql.execute(connection, "SET synchronous_commit = " + setting));
            ResourceFence.on(configured, "invoices").raise(FakeLease.of(7));
        }

        assertThat(Sql.rows(dataSource, "SELECT * FROM seen")).containsExactly("on", "on", "on", "remote_apply");
    }

    @Test
    void theTableRefusesToForget() throws Exception {
        fence.raise(FakeLease.of(7));

        for (String sql : List.of(
                "UPDATE ringfence_fence SET token = 6",
                "UPDATE ringfence_fence SET resource = 'x'",
                "DELETE FROM ringfence_fence",
                "TRUNCATE ringfence_fence")) {
            assertThatThrownBy(() -> Sql.execute(dataSource, sql))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.STALE_SQLSTATE));
        }
        assertThatCode(() -> Sql.execute(dataSource, "UPDATE ringfence_fence SET token = 8"))
                .doesNotThrowAnyException();
    }
}
