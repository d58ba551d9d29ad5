package io.ringfence.fencing.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import javax.sql.XADataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** Plain JDBC: all refusals arrive as they are. */
class PlainJdbcIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return new PlainJdbc(dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                FencedOutException.class,
                FencedOutException.class,
                NoLeaseException.class,
                PlainJdbc.Failure.class,
                PlainJdbc.Failure.class);
    }

    /** A cursor WITH HOLD runs its query to the end when the transaction commits. */
    @Test
    void whatIsWrittenOnlyAtTheEnd_isStillRefused() throws SQLException {
        Sql.execute(
                database.dataSource(),
                "CREATE FUNCTION late(bound int) RETURNS int LANGUAGE sql AS"
                        + " 'UPDATE invoice SET status = ''stale'' WHERE id = bound RETURNING id'");
        try (Connection connection = fenced().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("DECLARE late CURSOR WITH HOLD FOR SELECT late(id) FROM generate_series(1, 2) AS id");
            raise(newer);

            assertThatThrownBy(() -> connection.setAutoCommit(true)).isInstanceOf(SQLException.class);
        }
        assertThat(committed()).containsExactly("1|open", "2|open");
    }

    /** A coordinator of JTA would commit them, long after any check. */
    @Test
    void refusesXa() {
        assertThatThrownBy(() -> FencedDataSource.of(
                        new JdbcDataSource(), ResourceFence.on(database.dataSource(), "invoices"), lease::get))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("XA transactions cannot be fenced");
        assertThatThrownBy(() -> fenced().unwrap(XADataSource.class)).isInstanceOf(SQLException.class);
    }
}
