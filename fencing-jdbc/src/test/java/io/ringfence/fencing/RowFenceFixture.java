package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.election.FencingToken;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Three invoices, two of them written with token 5 and one with none, in a database that the subclass brings. */
abstract class RowFenceFixture {
    static final String CLOSE = "UPDATE invoice SET status = ? WHERE id = ?";

    final RowFence fence = RowFence.onColumn("fencing_token").key("id");
    final FencedDatabase database;
    final DataSource dataSource;
    Connection connection;

    RowFenceFixture(FencedDatabase empty) {
        database = empty;
        dataSource = empty.dataSource();
    }

    @BeforeEach
    void table() throws SQLException {
        connection = dataSource.getConnection();
        Sql.execute(
                connection,
                "CREATE TABLE invoice (id int PRIMARY KEY, status varchar(40))",
                database.schema().tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 5), (3, 'open', 0)");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    String invoice(int id) throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice WHERE id = " + id);
    }

    FencedOutException refused(long token, String sql, Object... parameters) {
        return refused(fence, token, sql, parameters);
    }

    FencedOutException refused(RowFence by, long token, String sql, Object... parameters) {
        return catchThrowableOfType(
                FencedOutException.class, () -> by.update(connection, new FencingToken(token), sql, parameters));
    }
}
