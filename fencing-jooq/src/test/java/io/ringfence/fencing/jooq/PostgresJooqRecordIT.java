package io.ringfence.fencing.jooq;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records on PostgreSQL. */
@ExtendWith(SharedServers.class)
class PostgresJooqRecordIT extends JooqRecordContract {

    PostgresJooqRecordIT(PostgresDatabase empty) {
        super(empty.dataSource(), SQLDialect.POSTGRES, "fencing_token");
    }
}
