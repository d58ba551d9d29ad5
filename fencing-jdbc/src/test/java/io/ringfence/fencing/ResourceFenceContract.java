package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.ds.PGSimpleDataSource;

/** What a fence does, whichever way it seals. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
abstract class ResourceFenceContract {
    private static final String CLOSE = "UPDATE invoice SET status = 'closed' WHERE id = ?";

    private final RowFence rows = RowFence.onColumn("fencing_token").key("id");
    private final FakeLease lease = FakeLease.of(7);
    private DataSource dataSource;
    private ResourceFence fence;

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException, InterruptedException {
        dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                FenceSchema.postgres().tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 9)");
        fence = fence(dataSource, "invoices");
        fence.raise(lease);
    }

    abstract SealMode mode();

    private ResourceFence fence(DataSource source, String resource) {
        return ResourceFence.on(source, resource).sealMode(mode());
    }

    private String invoices() throws SQLException {
        return String.join(" ", Sql.rows(dataSource, "SELECT status FROM invoice ORDER BY id"));
    }

    private static void close(Connection connection) throws SQLException {
        Sql.execute(connection, "UPDATE invoice SET status = 'closed' WHERE id = 1");
    }

    @Test
    void commitsTheWork_whenTheFenceIsAtOurToken() throws SQLException {
        String result = fence.inTransaction(lease, connection -> {
            close(connection);
            return "done";
        });
        fence.useTransaction(lease, connection -> rows.update(connection, lease, CLOSE, 1));

        assertThat(result).isEqualTo("done");
        assertThat(invoices()).isEqualTo("closed open");
    }

    @Test
    void rollsBack_whenANewerLeaderRaisedMeanwhile() throws SQLException {
        FencedOutException refusal = catchThrowableOfType(
                FencedOutException.class,
                () -> fence.useTransaction(lease, connection -> {
                    close(connection);
                    Sql.execute(connection, "CREATE TABLE extra (id int)", "DELETE FROM invoice WHERE id = 2");
                    raise(FakeLease.of(8));
                }));

        assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(refusal.presented()).isEqualTo(new FencingToken(7));
        assertThat(refusal.observed()).hasValue(8);
        assertThat(refusal).hasMessageContaining("resource 'invoices'").hasMessageContaining("process-8");
        assertThat(invoices()).isEqualTo("open open");
    }

    private void raise(FakeLease newer) throws SQLException {
        try {
            fence.raise(newer);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void isASerializationFailure_whenTheSnapshotIsOlderThanTheRaise() throws SQLException {
        DataSource repeatable = Wrapped.of(
                dataSource, connection -> connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ));

        assertThatThrownBy(() -> fence(repeatable, "invoices").useTransaction(lease, connection -> {
                    close(connection);
                    raise(FakeLease.of(8));
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void reportsRegression_whenTheRefusedLeaseIsTheConfirmedLeader() throws SQLException {
        raise(FakeLease.of(8));

        assertThatThrownBy(() ->
                        fence.useTransaction(lease.confirming(Confirmation.CONFIRMED), ResourceFenceContract::close))
                .isInstanceOf(TokenRegressionException.class);
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void isNotRaised_whenTheRowIsMissingOrLower() throws SQLException {
        assertThatThrownBy(() -> fence(dataSource, "other").useTransaction(lease, ResourceFenceContract::close))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.NOT_RAISED);
                    assertThat(e.observed()).isEmpty();
                    assertThat(e).hasMessageContaining("raise(lease)");
                });
        assertThatThrownBy(() -> fence.useTransaction(new FencingToken(8), ResourceFenceContract::close))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.NOT_RAISED);
                    assertThat(e.observed()).hasValue(7);
                });
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void refusesALeaseOfAnotherElection() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(new FakeLease("payments", 7), ResourceFenceContract::close))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("election 'invoices'")
                .hasMessageContaining("election 'payments'");
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void rollsBack_andPassesOnWhatTheWorkThrew() throws SQLException {
        IOException failure = new IOException("disk");

        assertThatThrownBy(() -> fence.inTransaction(lease, connection -> {
                    close(connection);
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void doesNotStart_whenTheLeaseIsLost() {
        lease.lose();

        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    throw new AssertionError("the work ran");
                }))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void refusesTheCommit_whenTheWorkSwallowsARefusal() throws SQLException {
        AtomicReference<Throwable> swallowed = new AtomicReference<>();

        Throwable thrown = catchThrowable(() -> fence.useTransaction(lease, connection -> {
            close(connection);
            Savepoint savepoint = connection.setSavepoint();
            swallowed.set(catchThrowable(() -> rows.update(connection, lease, CLOSE, 2)));
            connection.rollback(savepoint);
        }));

        assertThat(thrown).isInstanceOf(FencedOutException.class).isSameAs(swallowed.get());
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void refusesTheCommit_whenTheWorkSwallowsTooManyRows() throws SQLException {
        Sql.execute(dataSource, "INSERT INTO invoice VALUES (3, 'open', 0)");

        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    String twoRows = "UPDATE invoice SET status = 'x' WHERE id IN (1, 3)";
                    assertThatThrownBy(() -> rows.update(connection, lease, twoRows))
                            .isInstanceOf(TooManyRowsException.class);
                }))
                .isInstanceOf(TooManyRowsException.class);
        assertThat(invoices()).isEqualTo("open open open");
    }

    @Test
    void refusesTheCommit_whenTheWorkSwallowsARegression() throws SQLException {
        lease.confirming(Confirmation.CONFIRMED);

        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    close(connection);
                    assertThatThrownBy(() -> rows.update(connection, lease, CLOSE, 2))
                            .isInstanceOf(TokenRegressionException.class);
                }))
                .isInstanceOf(TokenRegressionException.class);
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void commits_afterARowThatWasSimplyNotThere() throws SQLException {
        fence.useTransaction(lease, connection -> {
            assertThatThrownBy(() -> rows.update(connection, lease, CLOSE, 3))
                    .isInstanceOf(NoMatchingRowException.class);
            Sql.execute(connection, "INSERT INTO invoice VALUES (3, 'new', 7)");
        });

        assertThat(invoices()).isEqualTo("open open new");
    }

    @Test
    void refusesAnotherTokenInTheSameTransaction() {
        assertThatThrownBy(() -> fence.useTransaction(
                        lease, connection -> rows.update(connection, new FencingToken(9), CLOSE, 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("token 7")
                .hasMessageContaining("token 9");
    }

    @Test
    void anAbortedTransactionIsNoSuccess_whenTheWorkSwallowsTheError() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    close(connection);
                    assertThatThrownBy(() -> Sql.execute(connection, "SELECT 1 / 0"))
                            .isInstanceOf(SQLException.class);
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25P02"));
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void passesADeferredConstraintThrough_asTheErrorItIs() throws SQLException {
        Sql.execute(dataSource, "CREATE TABLE item (invoice int REFERENCES invoice DEFERRABLE INITIALLY DEFERRED)");

        assertThatThrownBy(() -> fence.useTransaction(
                        lease, connection -> Sql.execute(connection, "INSERT INTO item VALUES (99)")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23503"));
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM item")).isEqualTo("0");
    }

    @Test
    void aTemporaryTableOfTheSameNameHasNoEffect() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    close(connection);
                    Sql.execute(
                            connection,
                            "CREATE TEMP TABLE ringfence_fence AS SELECT * FROM ringfence_fence",
                            "UPDATE ringfence_fence SET holder = 'me'");
                    raise(FakeLease.of(8));
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void aLeaseLostAndWonAgainInsideCannotOverwriteTheLeaderBetween() throws SQLException {
        FakeLease[] current = {lease};

        assertThatThrownBy(() -> fence.useTransaction(() -> current[0].requireToken(), connection -> {
                    close(connection);
                    raise(FakeLease.of(8));
                    current[0] = FakeLease.of(9);
                    raise(current[0]);
                }))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.presented().value()).isEqualTo(7);
                    assertThat(e.observed()).hasValue(9);
                });
        assertThat(invoices()).isEqualTo("open open");
    }

    /** The control: comparing the token that is held at the commit loses what the leader between wrote. */
    @Test
    void aTokenThatIsAskedForAtTheCommitOverwritesTheLeaderBetween() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            String read = Sql.rows(connection, "SELECT status FROM invoice WHERE id = 1")
                    .get(0);
            raise(FakeLease.of(8));
            Sql.execute(dataSource, "UPDATE invoice SET status = 'paid' WHERE id = 1");
            raise(FakeLease.of(9));
            Sql.execute(connection, "UPDATE invoice SET status = 'still " + read + "' WHERE id = 1");
            Sql.rows(connection, "SELECT public.ringfence_seal_v1('invoices', 'invoices', 9)");
            connection.commit();
        }
        assertThat(invoices()).isEqualTo("still open open");
    }

    @Test
    void nestedTransactionsAreTransactionsOfTheirOwn() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(lease, outer -> {
                    fence.useTransaction(lease, ResourceFenceContract::close);
                    throw new IOException("outer");
                }))
                .isInstanceOf(IOException.class);

        assertThat(invoices()).isEqualTo("closed open");
    }

    @Test
    void sealsAReadOnlyTransaction_withoutALock() throws SQLException {
        DataSource readOnly = Wrapped.of(dataSource, connection -> connection.setReadOnly(true));
        AtomicReference<String> seen = new AtomicReference<>();

        fence(readOnly, "invoices")
                .useTransaction(
                        lease,
                        connection -> seen.set(Sql.rows(connection, "SELECT count(*) FROM invoice")
                                .get(0)));
        assertThat(seen).hasValue("2");
        assertThatThrownBy(() -> fence(readOnly, "invoices").useTransaction(lease, connection -> {
                    Sql.rows(connection, "SELECT count(*) FROM invoice");
                    raise(FakeLease.of(8));
                }))
                .isInstanceOf(FencedOutException.class);
        assertThatThrownBy(() -> fence(readOnly, "invoices").useTransaction(lease, ResourceFenceContract::close))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
    }

    /** A driver may call a connection read-only and write all the same. */
    @Test
    void locksForAConnectionThatIsReadOnlyByNameOnly(PostgresDatabase database) throws Exception {
        PGSimpleDataSource ignoring = new PGSimpleDataSource();
        ignoring.setUrl(database.jdbcUrl() + "?readOnlyMode=ignore");
        ignoring.setUser(database.user());
        ignoring.setPassword(database.password());
        Sql.execute(
                ignoring,
                FenceSchema.postgres().fenceTable(),
                "CREATE TABLE t (v int)",
                "CREATE TABLE locked (v bool)");
        Sql.execute(
                ignoring,
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                // fires between the seal and the end of the transaction: is the fence row locked by it?
                "CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
                        + " INSERT INTO locked SELECT xmax <> 0 FROM ringfence_fence; RETURN NULL; END'",
                "CREATE CONSTRAINT TRIGGER look AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW EXECUTE FUNCTION look()");
        DataSource readOnly = Wrapped.of(ignoring, connection -> connection.setReadOnly(true));
        fence(ignoring, "t").raise(lease);

        fence(readOnly, "t").useTransaction(lease, connection -> Sql.execute(connection, "INSERT INTO t VALUES (1)"));

        assertThat(Sql.rows(ignoring, "SELECT v FROM locked")).containsExactly("t");
    }

    @Test
    void aTransactionThatWrote_andIsReadOnlyByNow_isNoSuccess() throws SQLException {
        assertThatThrownBy(() -> fence.useTransaction(lease, connection -> {
                    close(connection);
                    Sql.execute(connection, "SET TRANSACTION READ ONLY");
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
        assertThat(invoices()).isEqualTo("open open");
    }

    @Test
    void namesTheHolder_whateverItIsCalled() throws SQLException {
        Sql.execute(
                dataSource,
                "INSERT INTO ringfence_fence VALUES ('odd', 'an \"election\"', 9, E'a \"host\", holder \"x\"\n(2)')");

        assertThatThrownBy(() -> fence(dataSource, "odd").useTransaction(new FencingToken(8), c -> {}))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.observed()).hasValue(9))
                .hasMessageContaining("by a \"host\", holder \"x\"\n(2). Another");
        assertThatThrownBy(() -> fence(dataSource, "odd").useTransaction(lease, c -> {}))
                .hasMessageContaining("election 'an \"election\"' (token 9)");
    }

    @Test
    void tellsHowItSeals() throws SQLException {
        assertThat(fence.sealMode()).isEqualTo(mode());
    }

    @Test
    void restoresAutoCommit_andClosesTheConnection() throws SQLException {
        for (boolean autoCommit : new boolean[] {true, false}) {
            List<Connection> raw = new ArrayList<>();
            try (Connection kept = dataSource.getConnection()) {
                DataSource one = Wrapped.of(dataSource, connection -> {
                    connection.setAutoCommit(autoCommit);
                    raw.add(connection);
                });
                fence(one, "invoices").useTransaction(lease, ResourceFenceContract::close);
                assertThat(kept.isValid(1)).isTrue();
            }
            assertThat(raw.get(0).isClosed()).isTrue();
        }
    }

    @Test
    void saysWhatToCheck_whenTheDatabaseCannotBeReached(PostgresDatabase database) {
        PGSimpleDataSource wrong = new PGSimpleDataSource();
        wrong.setUrl(database.jdbcUrl());
        wrong.setUser(database.user());
        wrong.setPassword("wrong");

        assertThatThrownBy(() -> fence(wrong, "invoices").raise(lease))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("fence of resource 'invoices' got no connection")
                .hasMessageContaining("password authentication failed")
                .hasMessageContaining("user and password")
                .hasCauseInstanceOf(SQLException.class);
    }

    @Test
    void namesTheDdl_whenTheFenceTableIsMissing(PostgresDatabase empty) throws SQLException, InterruptedException {
        ResourceFence unprepared = fence(empty.dataSource(), "invoices");

        assertThatThrownBy(() -> unprepared.useTransaction(lease, connection -> {}))
                .isInstanceOf(FenceSchemaException.class)
                .hasMessageContaining("CREATE TABLE IF NOT EXISTS ringfence_fence");
        FenceSchemaException missing = catchThrowableOfType(FenceSchemaException.class, () -> unprepared.raise(lease));
        try (Connection connection = empty.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(missing.ddl());
            statement.execute(missing.ddl());
        }
        unprepared.raise(lease);
        unprepared.useTransaction(lease, connection -> {});
    }
}
