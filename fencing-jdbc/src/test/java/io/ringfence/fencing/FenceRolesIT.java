package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Fenced work by roles that may execute the functions of the fence and have no other right on it. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class FenceRolesIT {
    private static final String SCHEMA = "\"My Fences\"";

    private final FenceSchema schema = FenceSchema.postgres().inSchema(SCHEMA);
    private final FakeLease lease = FakeLease.of(7);
    private String writing;
    private DataSource owner;
    private ResourceFence writer;
    private ResourceFence raiser;

    @BeforeEach
    void roles(PostgresDatabase database) throws SQLException {
        owner = database.dataSource();
        writing = FenceRoles.create(database, "writer");
        String raising = FenceRoles.create(database, "raiser");
        writer = ResourceFence.on(FenceRoles.dataSource(database, writing, ""), "t")
                .inSchema(SCHEMA);
        raiser = ResourceFence.on(FenceRoles.dataSource(database, raising, ""), "t")
                .inSchema(SCHEMA);
        Sql.execute(
                owner,
                "CREATE SCHEMA " + SCHEMA,
                schema.fenceTable(),
                schema.fenceFunctions(),
                schema.grantSeal(writing),
                schema.grantRaise(raising),
                "CREATE TABLE t (v int)",
                "GRANT ALL ON t TO " + writing);
    }

    private String rows() throws SQLException {
        return Sql.one(owner, "SELECT count(*) FROM t");
    }

    @Test
    void aWriterWorksBehindTheFence_thatARaiserRaises() throws Exception {
        raiser.raise(lease);

        writer.useTransaction(lease, connection -> Sql.execute(connection, "INSERT INTO t VALUES (1)"));

        raiser.raise(FakeLease.of(8));
        assertThatThrownBy(() ->
                        writer.useTransaction(lease, connection -> Sql.execute(connection, "INSERT INTO t VALUES (2)")))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(8);
                    assertThat(e).hasMessageContaining("by process-8");
                });
        assertThatThrownBy(() -> raiser.raise(lease)).isInstanceOfSatisfying(FencedOutException.class, e -> {
            assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
            assertThat(e.observed()).hasValue(8);
        });
        assertThatThrownBy(() -> raiser.raise(new FakeLease("payments", 9)))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("election 'payments'");
        assertThat(rows()).isEqualTo("1");
    }

    @Test
    void aWriterCannotChangeTheFence_insideItsTransaction() throws Exception {
        raiser.raise(lease);

        assertThatThrownBy(() -> writer.useTransaction(
                        lease,
                        connection -> Sql.execute(connection, "UPDATE " + SCHEMA + ".ringfence_fence SET token = 6")))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"));
        assertThat(Sql.one(owner, "SELECT token FROM " + SCHEMA + ".ringfence_fence"))
                .isEqualTo("7");
    }

    @Test
    void namesTheGrant_whenARoleLacksIt() throws Exception {
        raiser.raise(lease);

        assertThatThrownBy(() -> raiser.useTransaction(lease, connection -> {}))
                .isInstanceOf(FenceSchemaException.class)
                .hasMessageContaining("may not seal fences in schema " + SCHEMA)
                .hasMessageContaining("GRANT EXECUTE ON FUNCTION " + SCHEMA + ".ringfence_seal_v1");
        assertThatThrownBy(() -> writer.raise(lease))
                .isInstanceOfSatisfying(
                        FenceSchemaException.class,
                        e -> assertThat(e.ddl())
                                .endsWith("GRANT EXECUTE ON FUNCTION " + SCHEMA
                                        + ".ringfence_raise_v1(text, text, bigint, text)" + " TO " + writing + ";\n"));
    }

    @Test
    void namesTheDdlOfTheSchema_whenItsTableIsMissing() throws Exception {
        Sql.execute(owner, schema.dropFence());

        assertThatThrownBy(() -> raiser.raise(lease))
                .isInstanceOf(FenceSchemaException.class)
                .hasMessageContaining("CREATE TABLE IF NOT EXISTS " + SCHEMA + ".ringfence_fence");
    }

    @Test
    void looksInTheSchemasOfTheSearchPath_whenNoneIsNamed() throws Exception {
        DataSource pathed =
                Wrapped.of(owner, connection -> Sql.execute(connection, "SET search_path = public, " + SCHEMA));

        assertThat(ResourceFence.on(pathed, "t").sealMode()).isEqualTo(SealMode.WITH_COMMIT);
        assertThatThrownBy(() -> ResourceFence.on(owner, "t").sealMode()).isInstanceOf(FenceSchemaException.class);
    }
}
