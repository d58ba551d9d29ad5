package io.ringfence.fencing;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Expectations on PostgreSQL, on tables with guards: the same as without. */
@ExtendWith(SharedServers.class)
class GuardedExpectedRowsIT extends ExpectedRowsContract {

    GuardedExpectedRowsIT(PostgresDatabase empty) {
        super(FencedDatabase.guarded(empty.dataSource()));
    }

    @BeforeEach
    void guard() throws SQLException {
        FencedDatabase.guard(connection);
    }
}
