package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.io.IOException;
import java.io.StringReader;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;

/** The transaction of a leader that was replaced before it committed, whatever it has done by then. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class OlderLeaderIT {
    private static final String SETUP = """
            CREATE TABLE invoice (id int PRIMARY KEY, status text);
            INSERT INTO invoice VALUES (1, 'open'), (2, 'open');
            CREATE TABLE journal (id int GENERATED ALWAYS AS IDENTITY, entry text);
            CREATE VIEW open_invoice AS SELECT * FROM invoice WHERE status = 'open';
            CREATE MATERIALIZED VIEW summary AS SELECT status, count(*) AS invoices FROM invoice GROUP BY status;
            CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN INSERT INTO journal (entry) VALUES (TG_OP); RETURN NULL; END $$;
            CREATE FUNCTION close_one(one int) RETURNS int LANGUAGE sql
                AS 'UPDATE invoice SET status = ''closed'' WHERE id = one RETURNING id';
            CREATE PROCEDURE close_all() LANGUAGE plpgsql
                AS $$ BEGIN UPDATE invoice SET status = 'closed'; INSERT INTO journal (entry) VALUES ('all'); END $$;
            """;

    private static final List<String> STATE = List.of(
            "SELECT * FROM invoice ORDER BY id",
            "SELECT entry FROM journal ORDER BY id",
            "SELECT * FROM summary ORDER BY status",
            "SELECT relname, relkind, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                    + " AND relname <> 'ringfence_fence' ORDER BY relname",
            "SELECT tgname FROM pg_trigger WHERE tgrelid = 'invoice'::regclass ORDER BY tgname",
            "SELECT obj_description('invoice'::regclass)",
            "SELECT count(*) FROM pg_largeobject_metadata",
            "SELECT count(*) FROM pg_prepared_xacts");

    private final HikariDataSource dataSource = new HikariDataSource();
    private FakeLease lease = FakeLease.of(1);
    private long token;

    /** What a transaction may do; each must change something that {@link #STATE} shows. */
    enum Work {
        UPDATE("UPDATE invoice SET status = 'closed' WHERE id = 1"),
        INSERT("INSERT INTO invoice VALUES (3, 'open')"),
        DELETE("DELETE FROM invoice WHERE id = 2"),
        UPSERT("INSERT INTO invoice VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET status = excluded.status"),
        WRITING_WITH("WITH gone AS (DELETE FROM invoice RETURNING id) INSERT INTO journal (entry) SELECT id FROM gone"),
        THROUGH_A_VIEW("UPDATE open_invoice SET status = 'closed'"),
        SEVERAL_TABLES(
                "UPDATE invoice SET status = 'closed'",
                "INSERT INTO journal (entry) VALUES ('by hand')",
                "REFRESH MATERIALIZED VIEW summary"),
        TRUNCATE("TRUNCATE invoice"),
        CREATE_TABLE("CREATE TABLE extra AS SELECT * FROM invoice"),
        ALTER_TABLE("ALTER TABLE invoice ADD COLUMN due date"),
        DROP_TABLE("DROP TABLE invoice CASCADE"),
        CREATE_INDEX("CREATE INDEX by_status ON invoice (status)"),
        CREATE_TRIGGER("CREATE TRIGGER watched AFTER UPDATE ON invoice EXECUTE FUNCTION record_change()"),
        COMMENT("COMMENT ON TABLE invoice IS 'of an older leader'"),
        A_WRITING_FUNCTION("SELECT close_one(1)"),
        A_PROCEDURE("CALL close_all()"),
        AN_ANONYMOUS_BLOCK("DO $$ BEGIN PERFORM close_one(2); END $$"),
        DYNAMIC_SQL("DO $$ BEGIN EXECUTE 'UPDATE invoice SET status = ''' || 'closed'''; END $$"),
        A_LARGE_OBJECT("SELECT lo_from_bytea(0, 'abc')"),
        A_SAVEPOINT("SAVEPOINT s", "UPDATE invoice SET status = 'closed'", "RELEASE SAVEPOINT s"),
        AFTER_A_ROLLBACK_TO_A_SAVEPOINT(
                "SAVEPOINT s",
                "DELETE FROM invoice",
                "ROLLBACK TO SAVEPOINT s",
                "UPDATE invoice SET status = 'closed'"),
        A_TABLE_LOCK("LOCK TABLE invoice IN ACCESS EXCLUSIVE MODE", "DELETE FROM invoice"),
        DEFERRED_CONSTRAINTS("SET CONSTRAINTS ALL DEFERRED", "DELETE FROM invoice"),
        A_CALL_ESCAPE {
            @Override
            void run(Connection connection) throws SQLException {
                try (CallableStatement call = connection.prepareCall("{? = call close_one(?)}")) {
                    call.registerOutParameter(1, Types.INTEGER);
                    call.setInt(2, 1);
                    call.execute();
                }
            }
        },
        A_BATCH {
            @Override
            void run(Connection connection) throws SQLException {
                try (PreparedStatement insert = connection.prepareStatement("INSERT INTO invoice VALUES (?, 'open')")) {
                    for (int id = 10; id < 20; id++) {
                        insert.setInt(1, id);
                        insert.addBatch();
                    }
                    insert.executeBatch();
                }
            }
        },
        AN_UPDATABLE_RESULT {
            @Override
            void run(Connection connection) throws SQLException {
                try (Statement statement = connection.createStatement(
                                ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                        ResultSet row = statement.executeQuery("SELECT id, status FROM invoice")) {
                    row.next();
                    row.updateString("status", "closed");
                    row.updateRow();
                }
            }
        },
        COPY_BY_THE_DRIVER {
            @Override
            void run(Connection connection) throws SQLException {
                try {
                    connection
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyIn("COPY invoice FROM STDIN (FORMAT csv)", new StringReader("7,open\n8,open\n"));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        };

        @SuppressWarnings("ImmutableEnumChecker") // what List.of returns is immutable
        private final List<String> statements;

        Work(String... statements) {
            this.statements = List.of(statements);
        }

        void run(Connection connection) throws SQLException {
            Sql.execute(connection, statements.toArray(new String[0]));
        }
    }

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException {
        dataSource.setDataSource(database.dataSource());
        setUp();
    }

    @AfterEach
    void close() {
        dataSource.close();
    }

    private void setUp() throws SQLException {
        Sql.execute(
                dataSource,
                "DROP SCHEMA public CASCADE; CREATE SCHEMA public",
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                SETUP);
    }

    private String state() throws SQLException {
        StringBuilder state = new StringBuilder();
        try (Connection connection = dataSource.getConnection()) {
            for (String query : STATE) {
                state.append(query)
                        .append(": ")
                        .append(shown(connection, query))
                        .append('\n');
            }
        }
        return state.toString();
    }

    /** A table that was dropped is a change, too. */
    private static String shown(Connection connection, String query) {
        try {
            return String.join(", ", Sql.rows(connection, query));
        } catch (SQLException e) {
            return e.toString();
        }
    }

    private FakeLease next() {
        return FakeLease.of(++token);
    }

    private void raise(FakeLease newLeader) throws SQLException {
        try {
            ResourceFence.on(dataSource, "invoices").raise(newLeader);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void commitsNothing(SealMode mode) throws Exception {
        ResourceFence fence = ResourceFence.on(dataSource, "invoices").sealMode(mode);
        String before = state();
        for (Work work : Work.values()) {
            FakeLease older = next();
            raise(older);

            assertThatThrownBy(() -> fence.useTransaction(older, connection -> {
                        work.run(connection);
                        raise(next());
                    }))
                    .as(work.name())
                    .isInstanceOf(FencedOutException.class);

            assertThat(state()).as(work.name()).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void commitsNothing_throughADataSource(SealMode mode) throws Exception {
        ResourceFence fence = ResourceFence.on(dataSource, "invoices").sealMode(mode);
        DataSource fenced = FencedDataSource.of(dataSource, fence, () -> lease);
        String before = state();
        for (Work work : Work.values()) {
            lease = next();
            raise(lease);

            try (Connection connection = fenced.getConnection()) {
                connection.setAutoCommit(false);
                work.run(connection);
                raise(next());
                assertThatThrownBy(connection::commit).as(work.name()).isInstanceOf(FencedOutException.class);
                connection.commit();
            }

            assertThat(state()).as(work.name()).isEqualTo(before);
        }
    }

    @Test
    void commits_withoutAFence() throws Exception {
        for (Work work : Work.values()) {
            setUp();
            raise(next());
            String before = state();

            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                work.run(connection);
                raise(next());
                connection.commit();
            }

            assertThat(state()).as(work.name()).isNotEqualTo(before);
        }
    }
}
