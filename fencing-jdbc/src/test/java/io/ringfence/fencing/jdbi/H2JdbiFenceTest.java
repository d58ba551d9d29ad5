package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.FenceSchema;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

class H2JdbiFenceTest extends OtherDatabaseContract {

    H2JdbiFenceTest() throws SQLException {
        super(empty(), FenceSchema.h2());
    }

    private static DataSource empty() {
        JdbcDataSource empty = new JdbcDataSource();
        empty.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return empty;
    }
}
