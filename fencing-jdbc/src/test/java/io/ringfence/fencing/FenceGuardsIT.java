package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The guards of rows and of TRUNCATE as code meets them that knows nothing of fences. */
@ExtendWith(SharedServers.class)
class FenceGuardsIT {
    static final String INSTALLED = "SELECT tgname FROM pg_trigger WHERE tgname LIKE '%ringfence%'"
            + " UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE '%ringfence%'";

    private final FenceSchema schema = FenceSchema.postgres();
    private final DataSource dataSource;

    FenceGuardsIT(PostgresDatabase empty) {
        dataSource = empty.dataSource();
    }

    @BeforeEach
    void guard() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE invoice (id int PRIMARY KEY, status text)",
                schema.tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 0)");
        for (int round = 0; round < 2; round++) {
            Sql.execute(dataSource, schema.rowGuard("invoice"), schema.truncateGuard("invoice"));
        }
    }

    private String invoice(int id) throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice WHERE id = " + id);
    }

    private static String token(long token) {
        return "SET LOCAL ringfence.token = '" + token + "'";
    }

    /** Runs statements in one transaction and commits. */
    static void run(DataSource dataSource, String... statements) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(connection, statements);
            connection.commit();
        }
    }

    static void refuses(DataSource dataSource, String state, String... statements) {
        assertThatThrownBy(() -> run(dataSource, statements))
                .isInstanceOfSatisfying(
                        SQLException.class,
                        e -> assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo(state));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE invoice SET status = 'x' WHERE id = 1",
                "UPDATE invoice SET status = 'x' WHERE id = 2",
                "UPDATE invoice SET status = 'x'",
                "UPDATE invoice SET status = 'x', fencing_token = 5 WHERE id = 1",
                "UPDATE invoice SET status = 'x', fencing_token = NULL WHERE id = 2",
                "DELETE FROM invoice WHERE id = 1",
                "INSERT INTO invoice (id, status) VALUES (3, 'x')",
                "INSERT INTO invoice VALUES (3, 'x', 0)",
                "INSERT INTO invoice VALUES (3, 'x', -1)",
                "INSERT INTO invoice (id, status) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET status = 'x'",
                "INSERT INTO invoice VALUES (1, 'x', 9) ON CONFLICT (id) DO UPDATE SET status = 'x'",
                "MERGE INTO invoice USING (SELECT 1 AS id) s ON s.id = invoice.id WHEN MATCHED THEN DELETE",
                "WITH x AS (DELETE FROM invoice RETURNING id) SELECT count(*) FROM x",
                "TRUNCATE invoice",
            })
    void refusesWhatComesWithoutAToken(String sql) throws SQLException {
        refuses(dataSource, "RF002", sql);
        refuses(dataSource, "RF002", "SET LOCAL ringfence.token = ''", sql);
        refuses(dataSource, "RF002", token(0), sql);
        assertThat(invoice(1)).isEqualTo("open|5");
        assertThat(invoice(2)).isEqualTo("open|0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE invoice SET status = 'x' WHERE id = 1",
                "UPDATE invoice SET status = 'x', fencing_token = 4 WHERE id = 1",
                "UPDATE invoice SET status = 'x', fencing_token = 9 WHERE id = 1",
                "UPDATE invoice SET fencing_token = 0 WHERE id = 1",
                "DELETE FROM invoice WHERE id = 1",
                "DELETE FROM invoice",
                "INSERT INTO invoice VALUES (1, 'x', 4) ON CONFLICT (id) DO UPDATE SET status = 'x'",
            })
    void refusesAStaleToken(String sql) throws SQLException {
        refuses(dataSource, "RF001", token(4), sql);
        assertThat(invoice(1)).isEqualTo("open|5");
        assertThat(invoice(2)).isEqualTo("open|0");
    }

    @Test
    void takesTokensAtTheirWord_thatAreNewToTheRow() throws SQLException {
        run(dataSource, "UPDATE invoice SET status = 'x', fencing_token = 6 WHERE id = 1");
        run(dataSource, "INSERT INTO invoice VALUES (3, 'x', 1)");
        run(
                dataSource,
                "INSERT INTO invoice AS i VALUES (2, 'x', 7) ON CONFLICT (id) DO UPDATE"
                        + " SET status = 'x', fencing_token = excluded.fencing_token WHERE i.fencing_token <= 7");

        assertThat(invoice(1)).isEqualTo("x|6");
        assertThat(invoice(2)).isEqualTo("x|7");
        assertThat(invoice(3)).isEqualTo("x|1");
        refuses(dataSource, "RF001", "UPDATE invoice SET status = 'y', fencing_token = 5 WHERE id = 1");
    }

    @Test
    void stampsWhatComesWithTheTokenOfItsTransaction() throws SQLException {
        run(
                dataSource,
                token(7),
                "UPDATE invoice SET status = 'x' WHERE id = 1",
                "UPDATE invoice SET status = 'y' WHERE id = 1",
                "UPDATE invoice SET status = 'z', fencing_token = 7",
                "INSERT INTO invoice VALUES (3, 'x', DEFAULT), (4, 'x', 7), (5, 'x', 0), (6, 'x', NULL)",
                "DELETE FROM invoice WHERE id = 6");

        assertThat(Sql.rows(dataSource, "SELECT id, status, fencing_token FROM invoice ORDER BY id"))
                .containsExactly("1|z|7", "2|z|7", "3|x|7", "4|x|7", "5|x|7");
        run(dataSource, token(8), "DELETE FROM invoice");
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM invoice")).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE invoice SET fencing_token = 9 WHERE id = 1",
                "UPDATE invoice SET fencing_token = 6 WHERE id = 1",
                "UPDATE invoice SET fencing_token = 0 WHERE id = 1",
                "INSERT INTO invoice VALUES (3, 'x', 99)",
            })
    void refusesASecondTokenInOneTransaction(String sql) throws SQLException {
        refuses(dataSource, "RF002", token(7), sql);
    }

    @Test
    void seesNoTokenOfAnEarlierTransaction_onAPooledConnection() throws SQLException {
        String update = "UPDATE invoice SET status = 'x' WHERE id = 1";
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Sql.execute(connection, token(7), update);
            connection.commit();
            assertThat(Sql.rows(connection, "SELECT current_setting('ringfence.token', true) = ''"))
                    .containsExactly("t");
            assertThatThrownBy(() -> Sql.execute(connection, update))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("RF002"));
            connection.rollback();
        }
    }

    @Test
    void hasTheLastWord_whenAnotherTriggerLowersTheToken() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN NEW.fencing_token = 1; RETURN NEW; END'",
                "CREATE TRIGGER z_forget BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION forget()");

        refuses(dataSource, "RF001", "UPDATE invoice SET fencing_token = 8 WHERE id = 1");
        refuses(dataSource, "RF002", token(8), "UPDATE invoice SET status = 'x' WHERE id = 1");
    }

    @Test
    void isNotFooledByAnotherOperator() throws SQLException {
        refuses(
                dataSource,
                "RF001",
                "CREATE FUNCTION no(bigint, bigint) RETURNS bool LANGUAGE sql AS 'SELECT false'",
                "CREATE OPERATOR public.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = no)",
                "SET LOCAL search_path = public, pg_catalog",
                token(4),
                "DELETE FROM invoice WHERE id = 1");
    }

    @Test
    void aCascadeAndAFunctionAreRefusedToo() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE line (id int PRIMARY KEY, invoice int REFERENCES invoice ON DELETE CASCADE)",
                schema.tokenColumn("line"),
                schema.rowGuard("line"),
                "INSERT INTO line VALUES (1, 1, 6)",
                "CREATE FUNCTION close_all() RETURNS void LANGUAGE sql AS 'UPDATE invoice SET status = ''x'''");

        refuses(dataSource, "RF001", token(5), "DELETE FROM invoice WHERE id = 1");
        refuses(dataSource, "RF002", "SELECT close_all()");
        run(dataSource, token(6), "DELETE FROM invoice WHERE id = 1");
        assertThat(Sql.one(dataSource, "SELECT count(*) FROM line")).isEqualTo("0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-                               | UPDATE invoice SET status = 'x' WHERE id = 1"
                        + "| UPDATE of a row of public.invoice comes without a fencing token: the row carries token 5"
                        + "| SET LOCAL ringfence.token = '5'",
                "SET LOCAL ringfence.token = 4   | DELETE FROM invoice WHERE id = 1"
                        + "| DELETE of a row of public.invoice with token 4 is stale: the row carries token 5"
                        + "| do not retry with its token",
                "SET LOCAL ringfence.token = 7   | INSERT INTO invoice VALUES (3, 'x', 9)"
                        + "| INSERT of a row of public.invoice writes token 9 in a transaction with token 7"
                        + "| it is filled in",
                "-                               | TRUNCATE invoice"
                        + "| TRUNCATE of public.invoice asks no row for its token"
                        + "| Use DELETE in a fenced transaction",
            })
    void saysWhatIsWrongAndWhatToDo(String before, String sql, String message, String hint) {
        assertThatThrownBy(() -> run(dataSource, before.equals("-") ? "SELECT 1" : before, sql))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(message)
                .hasMessageContaining(hint);
    }

    @Test
    void doesNotFire_whereReplicationApplies() throws SQLException {
        run(dataSource, "SET LOCAL session_replication_role = replica", "UPDATE invoice SET status = 'x' WHERE id = 1");

        assertThat(invoice(1)).isEqualTo("x|5");
    }

    @Test
    void copyBringsTheTokensOfItsRows() throws SQLException {
        Sql.execute(dataSource, "CREATE TABLE source AS SELECT id + 10 AS id, status, fencing_token FROM invoice");

        run(dataSource, "INSERT INTO invoice SELECT * FROM source WHERE fencing_token > 0");
        refuses(dataSource, "RF002", "INSERT INTO invoice SELECT * FROM source WHERE fencing_token = 0");
        assertThat(invoice(11)).isEqualTo("open|5");
    }

    @Test
    void coversPartitions_andRowsThatMoveBetweenThem() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE part (id int, v int) PARTITION BY RANGE (id)",
                "CREATE TABLE low PARTITION OF part FOR VALUES FROM (0) TO (10)",
                schema.tokenColumn("part"),
                schema.rowGuard("part"),
                schema.rowGuard("part"),
                schema.truncateGuard("part"),
                "CREATE TABLE high PARTITION OF part FOR VALUES FROM (10) TO (20)",
                "INSERT INTO part VALUES (1, 1, 5), (11, 1, 5)");

        for (String table : new String[] {"part", "low", "high"}) {
            refuses(dataSource, "RF002", "UPDATE " + table + " SET v = 2");
            refuses(dataSource, "RF001", token(4), "DELETE FROM " + table);
        }
        refuses(dataSource, "RF002", "UPDATE part SET id = 12 WHERE id = 1");
        refuses(dataSource, "RF002", "TRUNCATE part");
        refuses(dataSource, "RF001", token(4), "UPDATE part SET id = 12 WHERE id = 1");
        run(dataSource, token(6), "UPDATE part SET id = 12 WHERE id = 1");
        assertThat(Sql.rows(dataSource, "SELECT id, fencing_token FROM high ORDER BY id"))
                .containsExactly("11|5", "12|6");
        run(dataSource, "TRUNCATE low");

        Sql.execute(dataSource, schema.dropGuards("part"));
        run(dataSource, "UPDATE part SET v = 2", "UPDATE high SET v = 3");
    }

    @Test
    void doesNotCoverTablesThatInherit() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE child () INHERITS (invoice)",
                "INSERT INTO child VALUES (9, 'open', 5)",
                "UPDATE invoice SET status = 'x' WHERE id = 9");
        Sql.execute(dataSource, schema.rowGuard("child"));

        refuses(dataSource, "RF002", "UPDATE invoice SET status = 'y' WHERE id = 9");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"Sch\"\"ema $body$ 'x' %\" | \"In\"\"voice % $body1$ 'y'\" | \"To\"\"ken % 'z' $body$\"",
                "plain                       | Invoice                      | a234567890123456789012345678901234567890123456789012345678901",
            })
    void takesAnyName(String schemaName, String table, String column) throws SQLException {
        String name = schemaName + "." + table;
        Sql.execute(
                dataSource,
                "CREATE SCHEMA " + schemaName,
                "CREATE TABLE " + name + " (id int PRIMARY KEY, v int)",
                schema.tokenColumn(name, column),
                "INSERT INTO " + name + " VALUES (1, 1, 5)");
        for (int round = 0; round < 2; round++) {
            Sql.execute(dataSource, schema.rowGuard(name, column), schema.truncateGuard(name));
        }

        refuses(dataSource, "RF002", "UPDATE " + name + " SET v = 2");
        refuses(dataSource, "RF001", token(4), "UPDATE " + name + " SET v = 2");
        refuses(dataSource, "RF002", token(7), "UPDATE " + name + " SET " + column + " = 9");
        refuses(dataSource, "RF002", "TRUNCATE " + name);
        run(dataSource, token(7), "UPDATE " + name + " SET v = 2");
        assertThat(Sql.one(dataSource, "SELECT v, " + column + " FROM " + name)).isEqualTo("2|7");

        Sql.execute(dataSource, schema.dropGuards(name));
        run(dataSource, "TRUNCATE " + name);
    }

    @Test
    void saysAtOnceThatTheColumnIsMissing() {
        refuses(dataSource, "42703", schema.rowGuard("invoice", "fencing_tokn"));
        refuses(dataSource, "42P01", schema.rowGuard("invoices"));
    }

    @Test
    void theDropScriptLeavesNothing_andRunsTwice() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE other (id int)",
                schema.tokenColumn("other"),
                schema.rowGuard("other"),
                schema.dropGuards("invoice"),
                schema.dropGuards("invoice"),
                schema.dropGuards("nowhere.table"));

        run(dataSource, "UPDATE invoice SET status = 'x'", "TRUNCATE invoice");
        refuses(dataSource, "RF002", "INSERT INTO other VALUES (1)");
        assertThat(Sql.rows(dataSource, INSTALLED)).as("of the other table").hasSize(2);
        Sql.execute(dataSource, schema.dropGuards("other"));
        assertThat(Sql.rows(dataSource, INSTALLED)).isEmpty();
    }
}
