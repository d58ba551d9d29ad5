package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class PostgresServerIT {

    private final PostgresServer postgres;

    PostgresServerIT(PostgresServer postgres) {
        this.postgres = postgres;
    }

    @Test
    void refusesConnection_whenPasswordIsWrong() {
        assertThatThrownBy(() -> DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), "wrong"))
                .asInstanceOf(InstanceOfAssertFactories.type(SQLException.class))
                .extracting(SQLException::getSQLState)
                .isEqualTo("28P01");
    }

    @Test
    void connects_withItsCredentials() throws Exception {
        try (Connection connection =
                DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), postgres.password())) {
            assertThat(connection.isValid(5)).isTrue();
        }
    }

    @Test
    void givesAnEmptyDatabaseOfItsOwn_toEachParameter(PostgresDatabase one, PostgresDatabase other) throws Exception {
        assertThat(one.name()).isNotEqualTo(other.name());
        execute(one, "CREATE TABLE entry (id int)");
        execute(other, "CREATE TABLE entry (id int)");
    }

    @Test
    void takesAHundredConnections_onLoopbackOnly() throws Exception {
        assertThat(show("max_connections")).isEqualTo("100");
        assertThat(show("listen_addresses")).isEqualTo("127.0.0.1");
    }

    @Test
    void runsInAProcess_thatIsGoneWhenClosed() {
        PostgresServer own = PostgresServer.start();
        try (own) {
            assertThat(ProcessHandle.of(own.pid())).isPresent();
        }
        assertThatThrownBy(() -> own.dataSource().getConnection())
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("refused");
    }

    @Test
    void takesSettings() throws Exception {
        try (PostgresServer own = PostgresServer.start(Map.of("wal_level", "logical"))) {
            assertThat(show(own.dataSource(), "wal_level")).isEqualTo("logical");
        }
    }

    @Test
    void dies_andComesBackWithWhatItCommitted() throws Exception {
        PostgresServer own = PostgresServer.start();
        try (own) {
            PostgresDatabase database = own.createDatabase();
            execute(database, "CREATE TABLE entry (id int)");
            long killed = own.pid();
            try (Connection open = database.dataSource().getConnection()) {
                List<ProcessHandle> processes = Stream.concat(
                                ProcessHandle.of(killed).stream(),
                                ProcessHandle.of(killed).orElseThrow().descendants())
                        .toList();
                assertThat(processes).hasSizeGreaterThan(3);

                own.kill();

                assertThat(processes).noneMatch(ProcessHandle::isAlive);
                assertThat(open.isValid(5)).isFalse();
            }
            assertThatThrownBy(() -> database.dataSource().getConnection()).hasMessageContaining("refused");

            own.restart();

            execute(database, "INSERT INTO entry VALUES (1)");
            assertThat(own.pid()).isNotEqualTo(killed);
            assertThat(ProcessHandle.of(own.pid())).isPresent();
        }
        assertThatThrownBy(() -> own.dataSource().getConnection()).hasMessageContaining("refused");
    }

    @Test
    void isShared_amongTests(PostgresServer again) {
        assertThat(again).isSameAs(postgres);
    }

    @Test
    void keepsPasswords_outOfToString(PostgresDatabase database) {
        assertThat(database.toString() + postgres).doesNotContain(postgres.password());
    }

    private static void execute(PostgresDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String show(String setting) throws SQLException {
        return show(postgres.dataSource(), setting);
    }

    private static String show(DataSource dataSource, String setting) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SHOW " + setting)) {
            result.next();
            return result.getString(1);
        }
    }
}
