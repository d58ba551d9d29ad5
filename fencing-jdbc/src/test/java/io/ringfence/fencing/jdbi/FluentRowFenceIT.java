package io.ringfence.fencing.jdbi;

import io.ringfence.servers.PostgresDatabase;
import java.sql.SQLException;
import org.jdbi.v3.core.Handle;

/** Plain code on a handle. */
class FluentRowFenceIT extends JdbiRowFenceContract {

    FluentRowFenceIT(PostgresDatabase empty) throws SQLException {
        super(empty);
    }

    @Override
    JdbiWrites over(Handle opened) {
        return new FluentWrites(fence, opened);
    }

    @Override
    String place(String method) {
        return "";
    }
}
