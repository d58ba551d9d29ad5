package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stale write that waits, on H2. */
class H2RowFenceWaitTest extends RowFenceWaitContract {

    H2RowFenceWaitTest() {
        super(FencedDatabase.h2());
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
