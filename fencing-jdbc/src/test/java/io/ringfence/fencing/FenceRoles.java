package io.ringfence.fencing;

import io.ringfence.servers.PostgresDatabase;
import java.sql.SQLException;
import org.postgresql.ds.PGSimpleDataSource;

/** Roles of the test server that may log in and nothing else. A server keeps them for all its databases. */
final class FenceRoles {
    private static final String PASSWORD = "secret";

    private FenceRoles() {}

    /** Creates a role and returns its name as SQL writes it: quoted, with what needs quotes in it. */
    static String create(PostgresDatabase database, String name) throws SQLException {
        String role = "\"" + name + " of \"\"" + database.name() + "\"\"\"";
        Sql.execute(database.dataSource(), "CREATE ROLE " + role + " LOGIN PASSWORD '" + PASSWORD + "'");
        return role;
    }

    /** Returns the connections of a role; settings are parameters of the URL, {@code a=b&c=d}. */
    static PGSimpleDataSource dataSource(PostgresDatabase database, String role, String settings) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.jdbcUrl() + "?" + settings);
        source.setUser(role.substring(1, role.length() - 1).replace("\"\"", "\""));
        source.setPassword(PASSWORD);
        return source;
    }
}
