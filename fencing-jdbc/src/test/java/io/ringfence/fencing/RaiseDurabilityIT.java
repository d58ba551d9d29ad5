package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.PostgresServer;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A server that writes commits to its log seconds later, and is killed before. What a killed process has handed to the
 * kernel is not lost, so this asks for the log's writing and not for its syncing.
 */
class RaiseDurabilityIT {
    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresServer.start(Map.of("wal_writer_delay", "10s", "autovacuum", "off"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Returns a database whose settings let a crash forget commits. */
    private static DataSource forgetful(String scope, boolean byFunction) throws SQLException {
        PostgresDatabase database = server.createDatabase();
        DataSource dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                FenceSchema.postgres().fenceTable(),
                "ALTER DATABASE " + database.name() + " RESET synchronous_commit",
                "ALTER ROLE " + database.user() + " RESET synchronous_commit");
        if (byFunction) {
            Sql.execute(dataSource, FenceSchema.postgres().inSchema("public").fenceFunctions());
        }
        String name = scope.equals("DATABASE") ? database.name() : database.user();
        Sql.execute(dataSource, "ALTER " + scope + " " + name + " SET synchronous_commit = off");
        assertThat(Sql.one(dataSource, "SHOW synchronous_commit")).isEqualTo("off");
        return dataSource;
    }

    private static void crash() {
        server.kill();
        server.restart();
    }

    private static String token(DataSource dataSource) throws SQLException {
        return Sql.one(dataSource, "SELECT coalesce(max(token), 0) FROM ringfence_fence");
    }

    @ParameterizedTest
    @CsvSource({"DATABASE, false", "DATABASE, true", "ROLE, false", "ROLE, true"})
    void aRaiseSurvivesTheServersDeath_whereOtherCommitsDoNot(String scope, boolean byFunction) throws Exception {
        DataSource dataSource = forgetful(scope, byFunction);
        ResourceFence fence = ResourceFence.on(dataSource, "invoices");
        for (int token = 7; token <= 8; token++) {
            fence.raise(FakeLease.of(token));
            crash();
            assertThat(token(dataSource)).isEqualTo(String.valueOf(token));
        }
    }

    /** The control: the same row, written without what a raise sets. Another process may write the log in time. */
    @Test
    void aPlainCommitIsForgotten() throws Exception {
        DataSource dataSource = forgetful("DATABASE", false);
        ResourceFence.on(dataSource, "invoices").raise(FakeLease.of(7));
        boolean forgotten = false;
        for (int token = 8; token <= 15 && !forgotten; token++) {
            Sql.execute(dataSource, "UPDATE ringfence_fence SET token = " + token);
            assertThat(token(dataSource)).isEqualTo(String.valueOf(token));
            crash();
            forgotten = Integer.parseInt(token(dataSource)) < token;
        }
        assertThat(forgotten).isTrue();
    }
}
