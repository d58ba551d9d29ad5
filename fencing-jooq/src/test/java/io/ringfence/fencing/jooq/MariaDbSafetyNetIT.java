package io.ringfence.fencing.jooq;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.extension.ExtendWith;

/** The net on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbSafetyNetIT extends SafetyNetContract {

    MariaDbSafetyNetIT(MariaDbDatabase empty) {
        super(empty.dataSource(), SQLDialect.MARIADB, "fencing_token");
    }
}
