package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.FencingToken;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGStatement;

/** Ways out of a fenced transaction that look closed, and ways in that must stay open. */
@ExtendWith(SharedServers.class)
class TransactionEscapeIT {
    private PostgresDatabase database;
    private DataSource dataSource;
    private ResourceFence fence;

    @BeforeEach
    void tables(PostgresDatabase fresh) throws SQLException, InterruptedException {
        database = fresh;
        dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                FenceSchema.postgres().fenceTable(),
                "CREATE TABLE t (v int, tags text[])",
                "INSERT INTO t VALUES (0, '{a,b}')");
        fence = ResourceFence.on(dataSource, "t");
        fence.raise(FakeLease.of(7));
    }

    private String value() throws SQLException {
        return Sql.one(dataSource, "SELECT v FROM t");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{oj commit}",
                "/* x */ {oj commit }",
                "{fn commit /*()*/}",
                "{fn commit --()\n}",
                "{fn end --()\n}"
            })
    void theWorkCannotEndTheTransaction_insideAJdbcEscape(String sql) throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(new FencingToken(6), connection -> {
                    Sql.execute(connection, "UPDATE t SET v = 9");
                    Sql.execute(connection, sql);
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(value()).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{? = call pg_catalog.lower(?)}",
                "/* note */ {?=call pg_catalog.lower(?)}",
                "-- n\n{ ? = call pg_catalog.lower(?) }"
            })
    void aCallMayStartWithAComment(String sql) throws SQLException {
        fence.useTransaction(new FencingToken(7), connection -> {
            try (CallableStatement call = connection.prepareCall(sql)) {
                call.registerOutParameter(1, java.sql.Types.VARCHAR);
                call.setString(2, "ABC");
                call.execute();
                assertThat(call.getString(1)).isEqualTo("abc");
            }
        });
    }

    @Test
    void anArrayLeadsBackToTheConnection() throws SQLException {
        fence.useTransaction(new FencingToken(7), connection -> {
            ResultSet row = connection.createStatement().executeQuery("SELECT tags FROM t");
            row.next();
            java.sql.Array tags = row.getArray(1);
            assertThat((Object[]) tags.getArray()).containsExactly("a", "b");
            assertThatThrownBy(() ->
                            tags.getResultSet().getStatement().getConnection().commit())
                    .isInstanceOfAny(IllegalStateException.class, NullPointerException.class);
            PreparedStatement update = connection.prepareStatement("UPDATE t SET tags = ?");
            update.setArray(1, tags);
            update.executeUpdate();
            update.setArray(1, connection.createArrayOf("text", new Object[] {"c"}));
            update.executeUpdate();
            update.setObject(1, connection.createArrayOf("text", new Object[] {"d"}));
            update.executeUpdate();
        });
        assertThat(Sql.one(dataSource, "SELECT tags FROM t")).isEqualTo("{d}");
    }

    @Test
    void statementsUnwrapToTheDrivers() throws SQLException {
        fence.useTransaction(new FencingToken(7), connection -> {
            PreparedStatement statement = connection.prepareStatement("SELECT 1");
            statement.unwrap(PGStatement.class).setPrepareThreshold(1);
            assertThat(statement.unwrap(PreparedStatement.class)).isSameAs(statement);
            assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
        });
    }

    @Test
    void worksOnAPoolWithoutAutoCommit_atRepeatableRead() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            assertThatCode(() -> ResourceFence.on(pool, "t").raise(FakeLease.of(7)))
                    .doesNotThrowAnyException();
            assertThatCode(() -> ResourceFence.on(pool, "t")
                            .useTransaction(
                                    FakeLease.of(7),
                                    connection ->
                                            Sql.execute(connection, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void namesTheOtherElection_alsoWhenItsTokenIsLower() throws SQLException {
        Sql.execute(dataSource, "INSERT INTO ringfence_fence VALUES ('other', 'payments', 3, 'h')");

        assertThatThrownBy(
                        () -> ResourceFence.on(dataSource, "other").useTransaction(FakeLease.of(7), connection -> {}))
                .isInstanceOf(FencingException.class)
                .isNotInstanceOf(FencedOutException.class)
                .hasMessageContaining("election 'payments'");
    }

    @Test
    void aStatementOfAnotherThread_thatWasOverlong_isNotCommittedWithoutASeal() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch sealedAndCommitted = new CountDownLatch(1);
        CompletableFuture<Void> late = new CompletableFuture<>();
        // a thread that is preempted on its way into the driver, and a newer leader before the clean-up
        DataSource slow = slow(arrived, sealedAndCommitted, () -> {
            sealedAndCommitted.countDown();
            try {
                late.get(5, TimeUnit.SECONDS);
            } catch (Exception e) {
                // it is refused or late
            }
        });
        ResourceFence fenced = ResourceFence.on(slow, "t");
        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(sealedAndCommitted::countDown);
        fenced.useTransaction(new FencingToken(7), connection -> {
            Statement statement = connection.createStatement();
            Thread thread = new Thread(() -> {
                try {
                    statement.executeUpdate("UPDATE t SET v = 66");
                } catch (SQLException e) {
                    // fine
                }
                late.complete(null);
            });
            thread.start();
            try {
                arrived.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        late.get(5, TimeUnit.SECONDS);
        assertThat(order).containsExactly("update", "commit");
    }

    private final Queue<String> order = new ConcurrentLinkedQueue<>();

    private DataSource slow(CountDownLatch arrived, CountDownLatch go, Runnable beforeRestore) {
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (p, m, a) -> {
                    Connection real = dataSource.getConnection();
                    return Proxy.newProxyInstance(
                            getClass().getClassLoader(), new Class<?>[] {Connection.class}, (cp, cm, ca) -> {
                                if (cm.getName().equals("setAutoCommit") && Boolean.TRUE.equals(ca[0])) {
                                    fence.raise(FakeLease.of(8)); // a newer leader
                                    beforeRestore.run();
                                }
                                try {
                                    Object result = cm.invoke(real, ca);
                                    if (cm.getName().equals("commit")) {
                                        order.add("commit");
                                    }
                                    if (cm.getName().equals("createStatement")) {
                                        return Proxy.newProxyInstance(
                                                getClass().getClassLoader(),
                                                new Class<?>[] {Statement.class},
                                                (sp, sm, sa) -> {
                                                    if (sm.getName().equals("executeUpdate")) {
                                                        arrived.countDown();
                                                        go.await();
                                                        order.add("update");
                                                    }
                                                    try {
                                                        return sm.invoke(result, sa);
                                                    } catch (InvocationTargetException e) {
                                                        throw e.getCause();
                                                    }
                                                });
                                    }
                                    return result;
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
                });
    }
}
