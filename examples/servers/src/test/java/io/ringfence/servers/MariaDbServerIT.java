package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(SharedServers.class)
class MariaDbServerIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final MariaDbServer mariaDb;

    MariaDbServerIT(MariaDbServer mariaDb) {
        this.mariaDb = mariaDb;
    }

    @Test
    void refusesConnection_whenPasswordIsWrong() {
        for (String password : List.of("wrong", "")) {
            assertThatThrownBy(() -> DriverManager.getConnection(mariaDb.jdbcUrl(), mariaDb.user(), password))
                    .asInstanceOf(InstanceOfAssertFactories.type(SQLException.class))
                    .extracting(SQLException::getSQLState)
                    .isEqualTo("28000");
        }
    }

    @Test
    void refusesConnection_withoutAUser() {
        assertThatThrownBy(() -> DriverManager.getConnection(mariaDb.jdbcUrl(), "", ""))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("Access denied");
    }

    @Test
    void connects_withItsCredentials() throws Exception {
        try (Connection connection =
                DriverManager.getConnection(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password())) {
            assertThat(connection.isValid(5)).isTrue();
            assertThat(connection.getMetaData().getDatabaseProductName()).isEqualTo("MariaDB");
        }
    }

    @Test
    void givesAnEmptyDatabaseOfItsOwn_toEachParameter(MariaDbDatabase one, MariaDbDatabase other) throws Exception {
        assertThat(one.name()).isNotEqualTo(other.name());
        execute(one, "CREATE TABLE entry (id int)");
        execute(other, "CREATE TABLE entry (id int)");
    }

    @Test
    void passesOptions_toTheDriver(MariaDbDatabase database) throws Exception {
        String two = "CREATE TABLE one (id int); CREATE TABLE two (id int)";
        assertThatThrownBy(() -> execute(database, two)).isInstanceOf(SQLException.class);
        try (Connection connection =
                        database.dataSource("allowMultiQueries=true").getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(two);
        }
        execute(database, "INSERT INTO two VALUES (1)");
    }

    @Test
    void takesAHundredConnections_onLoopbackOnly() throws Exception {
        assertThat(show("max_connections")).isEqualTo("100");
        assertThat(show("bind_address")).isEqualTo("127.0.0.1");
    }

    @Test
    void isSmall_andDoesNotSyncToDisk() throws Exception {
        assertThat(show("innodb_buffer_pool_size")).isEqualTo("67108864");
        assertThat(show("innodb_flush_log_at_trx_commit")).isEqualTo("0");
        assertThat(show("innodb_flush_method")).isEqualTo("nosync");
    }

    @Test
    void rollsBack_andChecksTypes_asAServerInUseDoes(MariaDbDatabase database) throws Exception {
        assertThat(show("default_storage_engine")).isEqualTo("InnoDB");
        assertThat(show("sql_mode")).contains("STRICT_TRANS_TABLES");
        assertThat(show("character_set_server")).isEqualTo("utf8mb4");
        execute(database, "CREATE TABLE entry (id int)");
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO entry VALUES (1)");
            connection.rollback();
            try (ResultSet rows = statement.executeQuery("SELECT * FROM entry")) {
                assertThat(rows.next()).isFalse();
            }
        }
    }

    @Test
    void runsBesideAnother_andIsGoneWithItsData_whenClosed() throws Exception {
        MariaDbServer own = MariaDbServer.start();
        Path data;
        try (own) {
            assertThat(own.port()).isNotEqualTo(mariaDb.port());
            assertThat(own.password()).isNotEqualTo(mariaDb.password());
            assertThat(ProcessHandle.of(own.pid())).isPresent();
            data = Path.of(value(own, "SELECT @@datadir"));
            assertThat(data).isDirectory().startsWith(Directories.base());
        }
        assertThatThrownBy(() -> own.dataSource().getConnection())
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("refused");
        assertThat(ProcessHandle.of(own.pid()).filter(ProcessHandle::isAlive)).isEmpty();
        assertThat(data.getParent()).doesNotExist();
        assertThat(show("port")).isEqualTo(Integer.toString(mariaDb.port()));
    }

    @Test
    void diesWithItsJvm() {
        try (ChildJvm child = ChildJvm.start(Owner.class, List.of())) {
            String line = child.awaitLine("pid ", PATIENCE);
            Optional<ProcessHandle> server = ProcessHandle.of(Long.parseLong(line.substring("pid ".length())));
            assertThat(server).isPresent();
            child.send("exit");
            child.awaitExit(PATIENCE);
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(server.filter(ProcessHandle::isAlive)).isEmpty());
        }
    }

    @Test
    void saysWhatTheServerLogged_whenItDoesNotStart(@TempDir Path broken) throws Exception {
        MariaDbBinary binary = MariaDbBinaries.current();
        for (String suffix : List.of("", "_data")) {
            Files.writeString(broken.resolve("mariadb_system_tables" + suffix + ".sql"), "NO SUCH STATEMENT;\n");
        }
        MariaDbBinary other = new MariaDbBinary(binary.path(), broken, binary.version(), binary.origin());
        assertThatThrownBy(() -> MariaDbLocal.start(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("MariaDB did not start: exit status 1", "mariadb.log", "NO SUCH STATEMENT");
    }

    @Test
    void isShared_amongTests(MariaDbServer again) {
        assertThat(again).isSameAs(mariaDb);
    }

    @Test
    void keepsPasswords_outOfToString(MariaDbDatabase database) {
        assertThat(database.toString() + mariaDb).doesNotContain(mariaDb.password());
    }

    private static void execute(MariaDbDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String show(String variable) throws SQLException {
        return value(mariaDb, "SELECT @@" + variable);
    }

    private static String value(MariaDbServer server, String query) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getString(1);
        }
    }

    /** Starts a server, says its process id, and exits without closing it. */
    static final class Owner {

        private Owner() {}

        public static void main(String[] args) throws Exception {
            System.out.println("pid " + MariaDbServer.start().pid());
            int ignored = System.in.read();
            System.exit(ignored < 0 ? 1 : 0);
        }
    }
}
