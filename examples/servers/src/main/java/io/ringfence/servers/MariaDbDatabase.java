package io.ringfence.servers;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.mariadb.jdbc.MariaDbDataSource;

/**
 * A database of a {@link MariaDbServer} and the credentials to reach it with. Immutable; its {@link Object#toString()}
 * keeps the password to itself.
 */
public final class MariaDbDatabase {

    private final String host;
    private final int port;
    private final String name;
    private final String user;
    private final String password;

    MariaDbDatabase(String host, int port, String name, String user, String password) {
        this.host = host;
        this.port = port;
        this.name = name;
        this.user = user;
        this.password = password;
    }

    /** Returns the JDBC URL, without credentials. */
    public String jdbcUrl() {
        return "jdbc:mariadb://" + host + ":" + port + "/" + name;
    }

    /** Returns the user, who may do anything. */
    public String user() {
        return user;
    }

    /** Returns the password, which the server checks. */
    public String password() {
        return password;
    }

    /** Returns the server's port. */
    public int port() {
        return port;
    }

    /** Returns the database's name. */
    public String name() {
        return name;
    }

    /** Returns a new source of plain connections: every call of {@code getConnection} opens one. Thread-safe. */
    public DataSource dataSource() {
        return dataSource("");
    }

    /**
     * Returns a new source of plain connections with options of the driver.
     *
     * @param options in the syntax of the URL, such as {@code useServerPrepStmts=true&useBulkStmts=true}
     * @throws IllegalArgumentException if the driver does not take the options
     */
    public DataSource dataSource(String options) {
        try {
            MariaDbDataSource source = new MariaDbDataSource(options.isEmpty() ? jdbcUrl() : jdbcUrl() + "?" + options);
            source.setUser(user);
            source.setPassword(password);
            return source;
        } catch (SQLException e) {
            throw new IllegalArgumentException("the driver does not take '" + options + "': " + e.getMessage(), e);
        }
    }

    MariaDbDatabase named(String otherName) {
        return new MariaDbDatabase(host, port, otherName, user, password);
    }

    @Override
    public String toString() {
        return "MariaDbDatabase[" + jdbcUrl() + ", user " + user + "]";
    }
}
