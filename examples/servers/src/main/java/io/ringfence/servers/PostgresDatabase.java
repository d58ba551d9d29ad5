package io.ringfence.servers;

import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A database of a {@link PostgresServer} and the credentials to reach it with. Immutable; its
 * {@link Object#toString()} keeps the password to itself.
 */
public final class PostgresDatabase {

    private final String host;
    private final int port;
    private final String name;
    private final String user;
    private final String password;

    PostgresDatabase(String host, int port, String name, String user, String password) {
        this.host = host;
        this.port = port;
        this.name = name;
        this.user = user;
        this.password = password;
    }

    /** Returns the JDBC URL, without credentials. */
    public String jdbcUrl() {
        return "jdbc:postgresql://" + host + ":" + port + "/" + name;
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
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(jdbcUrl());
        source.setUser(user);
        source.setPassword(password);
        return source;
    }

    PostgresDatabase named(String otherName) {
        return new PostgresDatabase(host, port, otherName, user, password);
    }

    @Override
    public String toString() {
        return "PostgresDatabase[" + jdbcUrl() + ", user " + user + "]";
    }
}
