package io.ringfence.fencing;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Batches on PostgreSQL. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class PostgresFencedBatchIT extends FencedBatchContract {

    PostgresFencedBatchIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }
}
