package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stale write that waits, on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbRowFenceWaitIT extends RowFenceWaitContract {

    MariaDbRowFenceWaitIT(MariaDbDatabase empty) {
        super(FencedDatabase.mariaDb(empty.dataSource()));
    }

    /** The plain read of the transaction still sees the row as it was; the diagnosis has to lock. */
    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void isSuperseded_atHigherIsolation(int isolation) throws SQLException {
        stale.setTransactionIsolation(isolation);

        assertThatThrownBy(() -> writeWhileTheLeaderHoldsTheRow(() -> {
                    assertThat(Sql.rows(stale, "SELECT count(*) FROM invoice WHERE id = 2"))
                            .containsExactly("1");
                    staleWrite();
                }))
                .cause()
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED);
                    assertThat(e.observed()).hasValue(7);
                });
    }
}
