package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One statement on PostgreSQL, on tables with guards: the same as without. */
@ExtendWith(SharedServers.class)
class GuardedRowFenceIT extends RowFenceContract {

    GuardedRowFenceIT(PostgresDatabase empty) {
        super(FencedDatabase.guarded(empty.dataSource()));
    }

    @BeforeEach
    void guard() throws SQLException {
        FencedDatabase.guard(connection);
    }

    @Test
    void theGuardIsOn() {
        assertThatThrownBy(() -> Sql.execute(connection, "UPDATE invoice SET status = 'x' WHERE id = 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(FenceSchema.UNFENCED_SQLSTATE));
    }
}
