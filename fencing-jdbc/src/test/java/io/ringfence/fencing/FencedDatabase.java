package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/**
 * A database that the contracts of row fences run against.
 *
 * @param dataSource plain connections to an empty database
 * @param schema prints its DDL
 * @param waiting a query for the number of sessions that wait for a lock
 */
record FencedDatabase(DataSource dataSource, FenceSchema schema, String waiting) {

    static FencedDatabase postgres(DataSource dataSource) {
        return new FencedDatabase(
                dataSource,
                FenceSchema.postgres(),
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()");
    }

    /** A database whose data source goes around guards, so that tests can prepare what they test. */
    static FencedDatabase guarded(DataSource dataSource) {
        return postgres(Wrapped.of(
                dataSource, connection -> Sql.execute(connection, "SET session_replication_role = replica")));
    }

    /** Puts guards on the invoices, and lets a connection of {@link #guarded} meet them. */
    static void guard(Connection connection) throws SQLException {
        FenceSchema schema = FenceSchema.postgres();
        Sql.execute(
                connection,
                schema.rowGuard("invoice"),
                schema.truncateGuard("invoice"),
                "SET session_replication_role = origin");
    }

    static FencedDatabase h2() {
        JdbcDataSource empty = new JdbcDataSource();
        empty.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
        return new FencedDatabase(
                empty,
                FenceSchema.h2(),
                "SELECT count(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL");
    }

    static FencedDatabase mariaDb(DataSource dataSource) {
        return new FencedDatabase(
                dataSource, FenceSchema.mariaDb(), "SELECT count(*) FROM information_schema.INNODB_LOCK_WAITS");
    }
}
