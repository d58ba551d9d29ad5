package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The functions as the server runs them, called by roles that have no right on the fence table. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class FenceFunctionsIT {
    private static final String SCHEMA = "\"The \"\"Fence\"\" $body$ 'x' %\"";
    private static final String TABLE = SCHEMA + ".ringfence_fence";
    private static final String SEAL = "SELECT " + SCHEMA + ".ringfence_seal_v1(";
    private static final String RAISE = "SELECT " + SCHEMA + ".ringfence_raise_v1(";

    private final FenceSchema schema = FenceSchema.postgres().inSchema(SCHEMA);
    private DataSource owner;
    private DataSource writer;
    private DataSource raiser;
    private DataSource stranger;

    @BeforeEach
    void functions(PostgresDatabase database) throws SQLException {
        owner = database.dataSource();
        String writing = FenceRoles.create(database, "writer");
        String raising = FenceRoles.create(database, "raiser");
        String strange = FenceRoles.create(database, "stranger");
        writer = FenceRoles.dataSource(database, writing, "");
        raiser = FenceRoles.dataSource(database, raising, "");
        stranger = FenceRoles.dataSource(database, strange, "");
        Sql.execute(owner, "CREATE SCHEMA " + SCHEMA, "GRANT USAGE ON SCHEMA " + SCHEMA + " TO " + strange);
        for (int round = 0; round < 2; round++) {
            Sql.execute(
                    owner,
                    schema.fenceTable(),
                    schema.fenceFunctions(),
                    schema.grantSeal(writing),
                    schema.grantRaise(raising));
        }
        Sql.execute(owner, "CREATE TABLE t (v int)", "GRANT ALL ON t TO " + writing);
        Sql.rows(raiser, RAISE + "'invoices', 'e', 7, 'a \"host\"')");
    }

    private static void refuses(String state, DataSource role, String... statements) throws SQLException {
        try (Connection connection = role.getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < statements.length - 1; i++) {
                Sql.execute(connection, statements[i]);
            }
            assertThatThrownBy(() -> Sql.execute(connection, statements[statements.length - 1]))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state));
            connection.rollback();
        }
    }

    @Test
    void sealsByEqualTokensOnly() throws SQLException {
        Sql.rows(writer, SEAL + "'invoices', 'e', 7)");
        Sql.rows(writer, SEAL + "'invoices', NULL, 7)");

        refuses("RF001", writer, SEAL + "'invoices', 'e', 6)");
        refuses("RF003", writer, SEAL + "'invoices', 'e', 8)");
        refuses("RF003", writer, SEAL + "'other', 'e', 7)");
        refuses("RF003", writer, SEAL + "'invoices', 'e', NULL)");
        refuses("RF004", writer, SEAL + "'invoices', 'other', 7)");
    }

    @Test
    void raisesUpwardsOnly() throws SQLException {
        Sql.rows(raiser, RAISE + "'invoices', 'e', 7, 'h')");
        Sql.rows(raiser, RAISE + "'invoices', 'e', 9, 'h')");

        refuses("RF001", raiser, RAISE + "'invoices', 'e', 8, 'h')");
        refuses("RF004", raiser, RAISE + "'invoices', 'other', 10, 'h')");
        assertThat(Sql.rows(owner, "SELECT election, token, holder FROM " + TABLE))
                .containsExactly("e|9|h");
    }

    @Test
    void sealsReadTheCommittedRow_afterTheirSnapshotAndTheirWait() throws SQLException {
        try (Connection open = writer.getConnection()) {
            open.setAutoCommit(false);
            Sql.execute(open, "INSERT INTO t VALUES (1)");
            Sql.rows(raiser, RAISE + "'invoices', 'e', 8, 'h')");
            assertThatThrownBy(() -> Sql.rows(open, SEAL + "'invoices', 'e', 7)"))
                    .hasMessageContaining("fence at token 8, election \"e\", holder \"h\"");
            open.rollback();
        }
        refuses("RF001", writer, SEAL + "'invoices', 'e', 7)");
    }

    @Test
    void holdsUpARaise_untilTheSealedTransactionEnds() throws SQLException {
        try (Connection sealed = writer.getConnection()) {
            sealed.setAutoCommit(false);
            Sql.rows(sealed, SEAL + "'invoices', 'e', 7)");
            refuses("57014", raiser, "SET LOCAL statement_timeout = 300", RAISE + "'invoices', 'e', 8, 'h')");
            sealed.commit();
        }
        Sql.rows(raiser, RAISE + "'invoices', 'e', 8, 'h')");
    }

    @Test
    void locksNothing_whereNothingWasAndCanBeWritten() throws SQLException {
        try (Connection reading = writer.getConnection()) {
            reading.setAutoCommit(false);
            Sql.execute(reading, "SET TRANSACTION READ ONLY", "SELECT count(*) FROM t");
            Sql.rows(reading, SEAL + "'invoices', 'e', 7)");
            Sql.rows(raiser, RAISE + "'invoices', 'e', 8, 'h')");
            reading.rollback();
        }
        refuses("RF001", writer, "SET TRANSACTION READ ONLY", SEAL + "'invoices', 'e', 7)");
        refuses("25006", writer, "INSERT INTO t VALUES (1)", "SET TRANSACTION READ ONLY", SEAL + "'invoices', 'e', 8)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM " + TABLE,
                "SELECT * FROM " + TABLE + " FOR SHARE",
                "UPDATE " + TABLE + " SET token = 1",
                "UPDATE " + TABLE + " SET token = 99",
                "DELETE FROM " + TABLE,
                "TRUNCATE " + TABLE,
                "INSERT INTO " + TABLE + " VALUES ('x', 'e', 1, 'h')",
                "DROP TABLE " + TABLE,
                "DROP FUNCTION " + SCHEMA + ".ringfence_seal_v1(text, text, bigint)",
            })
    void rolesHaveNoRightOnTheTable(String sql) throws SQLException {
        for (DataSource role : List.of(writer, raiser)) {
            refuses("42501", role, sql);
        }
    }

    @Test
    void eachFunctionHasItsOwnGrant() throws SQLException {
        refuses("42501", writer, RAISE + "'invoices', 'e', 8, 'h')");
        refuses("42501", raiser, SEAL + "'invoices', 'e', 7)");
        refuses("42501", stranger, SEAL + "'invoices', 'e', 7)");
        refuses("42501", stranger, RAISE + "'invoices', 'e', 8, 'h')");
    }

    /** A role that may create anything, in any order of its search path, does not get another answer. */
    @Test
    void whatACallerCreatesHasNoEffect() throws SQLException {
        Sql.execute(owner, "GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC");
        String shadow = "CREATE TEMP TABLE ringfence_fence AS SELECT 'invoices' AS resource, 'e'::text AS election,"
                + " 6::bigint AS token, 'h'::text AS holder";
        String operator = "CREATE FUNCTION pg_temp.yes(bigint, bigint) RETURNS bool LANGUAGE sql AS 'SELECT true'";
        refuses("RF001", writer, shadow, SEAL + "'invoices', 'e', 6)");
        refuses("RF001", writer, shadow, "SET search_path = pg_temp, public, pg_catalog", SEAL + "'invoices', 'e', 6)");
        refuses(
                "RF001",
                writer,
                operator,
                "CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = pg_temp.yes)",
                "SET search_path = public, pg_catalog",
                SEAL + "'invoices', 'e', 6)");
    }

    @Test
    void theDropScriptRemovesEverything_andRunsTwice() throws SQLException {
        Sql.execute(owner, schema.dropFence(), schema.dropFence());

        assertThat(Sql.rows(owner, "SELECT proname FROM pg_proc WHERE proname LIKE 'ringfence%'"))
                .isEmpty();
        assertThat(Sql.rows(owner, "SELECT relname FROM pg_class WHERE relname LIKE 'ringfence%'"))
                .isEmpty();
        Sql.execute(owner, schema.fenceTable(), schema.fenceFunctions());
    }
}
