package io.ringfence.fencing;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Expectations on PostgreSQL. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class PostgresExpectedRowsIT extends ExpectedRowsContract {

    PostgresExpectedRowsIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }
}
