package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No shape of a statement lets a stale token write, and a fresh one does what the plain statement does. */
@ExtendWith(SharedServers.class)
@TestInstance(Lifecycle.PER_CLASS)
class RowFenceShapesIT {
    private static final long ON_ROWS = 10;

    private final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    private DataSource dataSource;

    @BeforeAll
    void table(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                "CREATE TABLE item (id int PRIMARY KEY, a int, b text, c jsonb, d int[], \"where\" int,"
                        + " fencing_token bigint NOT NULL DEFAULT 0)",
                "INSERT INTO item SELECT i, i % 5, 'x' || i, '{\"k\": 1}', array[i, i + 1], i, " + ON_ROWS
                        + " FROM generate_series(1, 40) i");
    }

    private List<String> items(Connection connection) throws SQLException {
        return Sql.rows(connection, "SELECT id, a, b, c, d, \"where\" FROM item ORDER BY id");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id = ? OR id = ?",
                "id = ? OR (id = ?)",
                "(id = ?) OR (id = ?)",
                "id = ? AND true OR id = ? AND true",
                "NOT id = ? OR id = ?",
                "id = ? OR id = ? -- or more",
                "id = ? OR id = ? /* where /* or */ */",
                "id = ? -- )\n OR id = ?",
                "id = ? OR id = ?;",
                "id = ? OR\r\nid = ?\r\n;\r\n",
                "CASE WHEN id = ? OR id = ? THEN true END",
                "CASE WHEN id = ? THEN true ELSE id = ? END OR true",
                "id IN (SELECT id FROM item WHERE id = ? OR id = ?) OR false",
                "EXISTS (SELECT 1 FROM item j WHERE j.id = item.id AND (j.id = ? OR j.id = ?)) OR true",
                "\"id\" = ? OR \"where\" = ?",
                "b = 'x'' OR ' OR id = ? OR id = ?",
                "b = E'x\\' OR ' OR id = ? OR id = ?",
                "b = $$ ' OR $$ OR id = ? OR id = ?",
                "b = $q$ ' $$ OR $q$ OR id = ? OR id = ?",
                "c ?? 'k' AND id = ? OR id = ?",
                "c ??| array['k'] AND id IN (?, ?)",
                "c @> '{\"k\": 1}'::jsonb AND id = ? OR id = ?",
                "d[1:2] = array[?::int, ?::int] OR d[1] > 0",
                "item.where = ? OR item.where = ?",
                "id IS NOT DISTINCT FROM ? OR id IS DISTINCT FROM ?",
                "id BETWEEN ? AND ? OR a = 1",
                "(id, a) = (?, ?) OR true",
                "id = ANY (array[?::int, ?::int]) OR true",
                "true OR id = ? OR id = ?",
                "id=? OR id=?",
                "id = ? OR id = ? OR fencing_token <= 999",
            })
    void aStaleTokenWritesNothing_whateverTheCondition(String predicate) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            List<String> before = items(connection);
            for (String start : List.of("UPDATE item SET a = 99 WHERE ", "DELETE FROM item WHERE ")) {
                try (PreparedStatement control = connection.prepareStatement(start + predicate)) {
                    control.setObject(1, 1);
                    control.setObject(2, 2);
                    assertThat(control.executeUpdate()).as("without a fence").isPositive();
                }
                connection.rollback();
                assertThatThrownBy(() -> fence.update(connection, FakeLease.of(ON_ROWS - 1), start + predicate, 1, 2))
                        .isInstanceOfSatisfying(
                                FencedOutException.class,
                                e -> assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED));
                assertThat(items(connection)).isEqualTo(before);
                connection.rollback();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO item (id, a) VALUES (99, 1)",
                "INSERT INTO item (id, a) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET a = 99",
                "UPDATE item SET a = 99 FROM item j WHERE item.id = j.id AND j.id = 1",
                "WITH x AS (SELECT 1) UPDATE item SET a = 99 WHERE id = 1",
                "WITH x AS (UPDATE item SET a = 99 WHERE id = 1 RETURNING *) SELECT * FROM x",
                "DELETE FROM item USING item j WHERE item.id = j.id",
                "MERGE INTO item USING item j ON item.id = j.id WHEN MATCHED THEN DELETE",
                "UPDATE item SET a = 99 WHERE id = 1; UPDATE item SET a = 99",
                "UPDATE item SET a = 99, fencing_token = 99 WHERE id = 1",
                "UPDATE item SET a = 99, \"fencing_token\" = 99 WHERE id = 1",
                "UPDATE item SET (a, fencing_token) = (99, 99) WHERE id = 1",
                "UPDATE item SET a = 99, U&\"fencing!005Ftoken\" UESCAPE '!' = 99 WHERE id = 1",
                "UPDATE item SET a = 99 WHERE id = 1) OR (1 = 1",
                "UPDATE item SET a = 99 WHERE id = 1 OR b = '\\' OR true --'",
                "EXPLAIN ANALYZE UPDATE item SET a = 99",
                "DO $$ BEGIN UPDATE item SET a = 99; END $$",
                "TRUNCATE item",
                "SELECT 1",
                "DROP TABLE item",
                "COMMIT",
            })
    void whatIsNotUnderstood_isRefusedAndDoesNotRun(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            List<String> before = items(connection);

            assertThatThrownBy(() -> fence.update(connection, FakeLease.of(ON_ROWS + 1), sql))
                    .isInstanceOf(NotFenceableException.class);

            assertThat(items(connection)).isEqualTo(before);
        }
    }

    @Test
    void aFreshTokenDoesWhatThePlainStatementDoes_andAStaleOneNothing() throws SQLException {
        Random random = new Random(20261202);
        int written = 0;
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            List<String> before = items(connection);
            connection.rollback();
            for (int round = 0; round < 400; round++) {
                List<Object> parameters = new ArrayList<>();
                String sql = new RandomStatement(random, parameters).text();
                int plain = 0;
                List<String> expected;
                try (PreparedStatement control = connection.prepareStatement(sql)) {
                    for (int i = 0; i < parameters.size(); i++) {
                        control.setObject(i + 1, parameters.get(i));
                    }
                    plain = control.executeUpdate();
                    expected = items(connection);
                }
                connection.rollback();

                assertThat(fencedCount(connection, ON_ROWS, sql, parameters))
                        .as(sql)
                        .isEqualTo(plain);
                assertThat(items(connection)).as(sql).isEqualTo(expected);
                connection.rollback();

                assertThat(fencedCount(connection, ON_ROWS - 1, sql, parameters))
                        .as(sql)
                        .isZero();
                assertThat(items(connection)).as(sql).isEqualTo(before);
                connection.rollback();
                written += plain > 0 ? 1 : 0;
            }
        }
        assertThat(written).as("statements that wrote something").isGreaterThan(200);
    }

    private long fencedCount(Connection connection, long token, String sql, List<Object> parameters)
            throws SQLException {
        try {
            return fence.update(connection, FakeLease.of(token), sql, parameters.toArray());
        } catch (TooManyRowsException e) {
            return e.rows();
        } catch (FencedOutException e) {
            return 0;
        }
    }
}
