package io.ringfence.fencing.jdbi;

import io.ringfence.servers.PostgresDatabase;
import java.sql.SQLException;
import org.jdbi.v3.core.Handle;

/** Methods of a SQL object. */
class SqlObjectRowFenceIT extends JdbiRowFenceContract {

    SqlObjectRowFenceIT(PostgresDatabase empty) throws SQLException {
        super(empty);
    }

    @Override
    JdbiWrites over(Handle opened) {
        return opened.attach(StatementObject.class);
    }

    @Override
    String place(String method) {
        return "StatementObject." + method + ": ";
    }
}
