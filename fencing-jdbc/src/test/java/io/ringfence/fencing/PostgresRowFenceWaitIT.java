package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stale write that waits, on PostgreSQL. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class PostgresRowFenceWaitIT extends RowFenceWaitContract {

    PostgresRowFenceWaitIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void isASerializationFailure_atHigherIsolation(int isolation) throws SQLException {
        stale.setTransactionIsolation(isolation);

        assertThatThrownBy(() -> writeWhileTheLeaderHoldsTheRow(this::staleWrite))
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        stale.rollback();
        assertThat(invoice(1)).isEqualTo("leader|7");
    }
}
