package io.ringfence.fencing.jooq;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Waiting on MariaDB, whose plain reads see the past. */
@ExtendWith(SharedServers.class)
class MariaDbJooqWaitIT extends JooqWaitContract {

    MariaDbJooqWaitIT(MariaDbDatabase empty) {
        super(
                empty.dataSource(),
                SQLDialect.MARIADB,
                "fencing_token",
                "SELECT count(*) FROM information_schema.INNODB_LOCK_WAITS");
    }

    @Test
    void isSuperseded_atRepeatableRead() throws SQLException {
        assertThat(behindTheLeader(Connection.TRANSACTION_REPEATABLE_READ, this::stale))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThat(invoice(1)).isEqualTo("closed|9");
    }
}
