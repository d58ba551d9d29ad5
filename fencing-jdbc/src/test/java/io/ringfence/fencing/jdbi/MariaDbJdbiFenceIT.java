package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class MariaDbJdbiFenceIT extends OtherDatabaseContract {

    MariaDbJdbiFenceIT(MariaDbDatabase empty) throws SQLException {
        super(empty.dataSource(), FenceSchema.mariaDb());
    }
}
