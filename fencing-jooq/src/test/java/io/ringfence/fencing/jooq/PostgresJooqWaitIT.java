package io.ringfence.fencing.jooq;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiting on PostgreSQL. */
@ExtendWith(SharedServers.class)
class PostgresJooqWaitIT extends JooqWaitContract {

    PostgresJooqWaitIT(PostgresDatabase empty) {
        super(
                empty.dataSource(),
                SQLDialect.POSTGRES,
                "fencing_token",
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()");
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void isToBeRetried_aboveReadCommitted(int isolation) throws SQLException {
        assertThat(behindTheLeader(isolation, this::stale))
                .isInstanceOfSatisfying(
                        DataAccessException.class, e -> assertThat(e.sqlState()).isEqualTo("40001"));
        assertThat(invoice(1)).isEqualTo("closed|9");
    }
}
