package io.ringfence.fencing;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import org.junit.jupiter.api.extension.ExtendWith;

/** Expectations on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbExpectedRowsIT extends ExpectedRowsContract {

    MariaDbExpectedRowsIT(MariaDbDatabase empty) {
        super(FencedDatabase.mariaDb(empty.dataSource()));
    }
}
