package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.fencing.internal.Postgres;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("postgres")
@ExtendWith(SharedServers.class)
class RowFenceTargetIT {
    private final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    private DataSource dataSource;
    private Connection connection;

    @BeforeEach
    void connect(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        connection = dataSource.getConnection();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private long update(String table) throws SQLException {
        return fence.update(connection, FakeLease.of(7), "UPDATE " + table + " SET v = v + 1 WHERE id = 1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "v int                                    | has no token column",
                "v int, fencing_token int NOT NULL        | is of type integer and must be bigint",
                "v int, fencing_token numeric NOT NULL    | is of type numeric and must be bigint",
                "v int, fencing_token bigint DEFAULT 0    | may be NULL",
            })
    void namesTheDdlThatHelps_whenTheColumnIsNotRight(String columns, String message) throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SCHEMA \"My Schema\"",
                "CREATE TABLE \"My Schema\".\"In\"\"voice\" (id int PRIMARY KEY, " + columns + ")",
                "INSERT INTO \"My Schema\".\"In\"\"voice\" (id, v) SELECT 1, 1"
                        + (columns.contains("NOT NULL") ? " WHERE false" : ""));

        FenceSchemaException missing =
                catchThrowableOfType(FenceSchemaException.class, () -> update("\"My Schema\".\"In\"\"voice\""));

        assertThat(missing).hasMessageContaining(message).hasMessageContaining(missing.ddl());
        Sql.execute(dataSource, missing.ddl());
        Sql.execute(
                dataSource,
                "INSERT INTO \"My Schema\".\"In\"\"voice\" (id, v, fencing_token) VALUES (1, 1, 0)"
                        + " ON CONFLICT DO NOTHING");
        assertThat(update("\"My Schema\".\"In\"\"voice\"")).isEqualTo(1);
    }

    @Test
    void refusesViewsRulesAndForeignTables() throws SQLException {
        String columns = "(id int PRIMARY KEY, v int, fencing_token bigint NOT NULL DEFAULT 0)";
        Sql.execute(
                dataSource,
                "CREATE TABLE t " + columns,
                "INSERT INTO t VALUES (1, 1, 0)",
                "CREATE VIEW simple AS SELECT * FROM t",
                "CREATE MATERIALIZED VIEW stored AS SELECT * FROM t",
                "CREATE TABLE ruled " + columns,
                "CREATE RULE r AS ON UPDATE TO ruled DO INSTEAD UPDATE t SET v = 99",
                "CREATE FOREIGN DATA WRAPPER nothing",
                "CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing",
                "CREATE FOREIGN TABLE far (id int, v int, fencing_token bigint NOT NULL) SERVER elsewhere");

        assertThatThrownBy(() -> update("simple"))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("simple is a view");
        assertThatThrownBy(() -> update("stored")).isInstanceOf(NotFenceableException.class);
        assertThatThrownBy(() -> update("ruled"))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("DO INSTEAD");
        assertThatThrownBy(() -> update("far"))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("far is a foreign table");
        assertThat(Sql.one(dataSource, "SELECT v, fencing_token FROM t")).isEqualTo("1|0");
    }

    @Test
    void findsTheTableOnTheSearchPath_partitionedOrNot() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SCHEMA billing",
                "CREATE TABLE billing.invoice (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)",
                "CREATE TABLE billing.low PARTITION OF billing.invoice FOR VALUES FROM (0) TO (9)",
                FenceSchema.postgres().tokenColumn("billing.invoice"),
                FenceSchema.postgres().tokenColumn("billing.invoice"),
                "INSERT INTO billing.invoice VALUES (1, 1)");
        Sql.execute(connection, "SET search_path = billing");

        assertThat(update("Invoice")).isEqualTo(1);
        assertThat(update("billing.invoice")).isEqualTo(1);
        assertThat(update(connection.getCatalog() + ".billing.invoice AS i")).isEqualTo(1);
        assertThat(Sql.one(dataSource, "SELECT v, fencing_token FROM billing.invoice"))
                .isEqualTo("4|7");
    }

    @Test
    void namesTheProduct_whenItIsNoneThatRowFencesWorkOn() {
        Connection other = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> method.getName().equals("getMetaData")
                        ? Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {DatabaseMetaData.class},
                                (metadata, asked, none) -> "MySQL")
                        : method.invoke(connection, arguments));

        assertThatThrownBy(() -> fence.update(other, FakeLease.of(7), "UPDATE t SET v = 1"))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("work on PostgreSQL, MariaDB")
                .hasMessageContaining("leads to MySQL");
        assertThatThrownBy(() -> Postgres.requireVersion("CockroachDB CCL v24.1.0"))
                .isInstanceOf(FencingException.class)
                .hasMessageContaining("CockroachDB");
        assertThatThrownBy(() -> Postgres.requireVersion("PostgreSQL 11.2-YB-2.20.1.0-b0"))
                .isInstanceOf(FencingException.class);
    }

    @Test
    void doesNotRememberAFailure() throws SQLException {
        Sql.execute(dataSource, "CREATE TABLE t (id int, v int)", "INSERT INTO t VALUES (1, 1)");

        assertThatThrownBy(() -> update("t")).isInstanceOf(FenceSchemaException.class);
        Sql.execute(dataSource, FenceSchema.postgres().tokenColumn("t"));

        assertThat(update("t")).isEqualTo(1);
    }
}
