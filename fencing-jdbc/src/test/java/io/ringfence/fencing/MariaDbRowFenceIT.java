package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One statement on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbRowFenceIT extends RowFenceContract {

    MariaDbRowFenceIT(MariaDbDatabase empty) {
        super(FencedDatabase.mariaDb(empty.dataSource()));
    }

    @Test
    void refusesConnectionsThatCountChangedRowsOnly(MariaDbDatabase other) throws SQLException {
        try (Connection affected = other.dataSource("useAffectedRows=true").getConnection()) {
            assertThatThrownBy(() -> fence.update(affected, FakeLease.of(7), CLOSE, "x", 1))
                    .isInstanceOf(NotFenceableException.class)
                    .hasMessageContaining("useAffectedRows=true");
        }
    }

    @Test
    void refusesTablesWithoutTransactions() throws SQLException {
        Sql.execute(dataSource, "ALTER TABLE invoice ENGINE=MyISAM");

        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), CLOSE, "x", 1))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("ENGINE=InnoDB");
    }

    @Test
    void cannotTell_whenATriggerTakesTheTokenBack() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TRIGGER back BEFORE UPDATE ON invoice FOR EACH ROW SET NEW.fencing_token = OLD.fencing_token");

        assertThat(fence.update(connection, FakeLease.of(7), CLOSE, "x", 1)).isEqualTo(1);
        assertThat(invoice(1)).as("what the javadoc does not guarantee").isEqualTo("x|5");
    }

    @Test
    void returnsDeletedRows() throws SQLException {
        assertThat(fence.returning(
                        connection,
                        FakeLease.of(7),
                        row -> row.getString(1),
                        "DELETE FROM invoice WHERE id = ? RETURNING status",
                        1))
                .containsExactly("open");
        assertThatThrownBy(() -> fence.returning(
                        connection,
                        FakeLease.of(4),
                        row -> row.getString(1),
                        "DELETE FROM invoice WHERE id = ? RETURNING status",
                        2))
                .isInstanceOfSatisfying(
                        FencedOutException.class,
                        e -> assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED));
    }

    @Test
    void returnsTheKeysOfAnInsert() throws SQLException {
        Sql.execute(dataSource, "ALTER TABLE invoice MODIFY id int AUTO_INCREMENT");

        assertThat(fence.generatedKeys(
                        connection,
                        FakeLease.of(7),
                        List.of("id"),
                        row -> row.getInt(1),
                        "INSERT INTO invoice (status, {fence.column}) VALUES (?, {fence.token})",
                        "new"))
                .containsExactly(4);
        assertThat(invoice(4)).isEqualTo("new|7");
    }

    /** The row would be there already, and the update in place of the insert has no fence. */
    @ParameterizedTest
    @ValueSource(strings = {"", " FROM (SELECT 1 AS one) s", " FROM invoice s JOIN invoice j ON s.id = j.id"})
    void refusesAnUpdateInPlaceOfAnInsertedSelect(String from) throws SQLException {
        String sql = "INSERT INTO invoice (id, status, {fence.column}) SELECT 1, 'stale', {fence.token}" + from
                + " ON DUPLICATE KEY UPDATE status = 'stale'";

        assertThatThrownBy(() -> fence.expecting(ExpectedRows.any()).update(connection, FakeLease.of(4), sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("update first");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void takesNamesInBackticks() throws SQLException {
        Sql.execute(
                dataSource,
                "CREATE TABLE `Or``der` (`Id` int PRIMARY KEY, `wh ere` int, `Fencing Token` bigint NOT NULL DEFAULT 0)",
                "INSERT INTO `Or``der` VALUES (1, 0, 5)");
        RowFence quoted = RowFence.onColumn("`Fencing Token`").key("`Id`");
        String update = "UPDATE `Or``der` SET `wh ere` = 1 WHERE `id` = ?";

        assertThat(quoted.update(connection, FakeLease.of(5), update, 1)).isEqualTo(1);
        assertThat(refused(quoted, 4, update, 1).reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED);
        assertThat(refused(quoted, 6, update, 2)).isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> RowFence.onColumn("\"x\"").update(connection, FakeLease.of(7), update, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MariaDB");
    }
}
