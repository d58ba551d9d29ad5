package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One statement on PostgreSQL, with what only PostgreSQL has. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class PostgresRowFenceIT extends RowFenceContract {

    PostgresRowFenceIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @Test
    void cannotTell_whenATriggerSkipsTheRow() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                "CREATE TRIGGER skip BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION skip()");

        FencedOutException refusal = refused(7, CLOSE, "closed", 1);

        assertThat(refusal.reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refusal).hasMessageContaining("trigger");
    }

    @Test
    void neverSaysSuperseded_whenRowLevelSecurityHidesTheRow() throws SQLException {
        Sql.execute(
                dataSource,
                "ALTER TABLE invoice ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY reading ON invoice FOR SELECT USING (id <> 3)",
                "CREATE POLICY writing ON invoice FOR UPDATE USING (id = 1)",
                "CREATE ROLE clerk_" + connection.getCatalog(),
                "GRANT ALL ON invoice TO clerk_" + connection.getCatalog());
        Sql.execute(connection, "SET ROLE clerk_" + connection.getCatalog());

        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "closed", 1))
                .isEqualTo(1);
        assertThat(refused(7, CLOSE, "closed", 2).reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refused(7, CLOSE, "closed", 3).reason()).isEqualTo(Reason.NO_MATCHING_ROW);
    }

    @Test
    void cannotTell_andKeepsTheFailure_whenTheReadFails() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SEQUENCE calls",
                "CREATE FUNCTION fails_when_called_again() RETURNS boolean LANGUAGE plpgsql AS"
                        + " 'BEGIN IF nextval(''calls'') > 1 THEN RAISE ''called again''; END IF; RETURN false; END'");

        FencedOutException refusal =
                refused(7, "UPDATE invoice SET status = 'x' WHERE id = 1 AND fails_when_called_again()");

        assertThat(refusal.reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(refusal.getSuppressed()).singleElement().isInstanceOf(SQLException.class);
    }

    @Test
    void passesASerializationFailureOfTheReadThrough() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE SEQUENCE calls",
                "CREATE FUNCTION fails_when_called_again() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN IF"
                        + " nextval(''calls'') > 1 THEN RAISE ''again'' USING ERRCODE = ''40001''; END IF;"
                        + " RETURN false; END'");

        assertThatThrownBy(() -> fence.update(
                        connection,
                        FakeLease.of(7),
                        "UPDATE invoice SET status = 'x' WHERE id = 1 AND fails_when_called_again()"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
    }
}
