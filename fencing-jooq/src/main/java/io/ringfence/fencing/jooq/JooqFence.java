package io.ringfence.fencing.jooq;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DefaultConfiguration;

/**
 * Fences single rows that are written through jOOQ, as {@link io.ringfence.fencing.RowFence} does for JDBC: a row refuses a
 * lower token than the one it carries.
 *
 * <pre>{@code
 * JooqFence fence = JooqFence.onColumn("fencing_token").key("id");
 * fence.execute(lease, dsl.update(INVOICE).set(INVOICE.STATUS, "closed").where(INVOICE.ID.eq(id)));
 * }</pre>
 *
 * <p>What is guaranteed and what is not stands at {@link io.ringfence.fencing.RowFence}. Statements that do not come through
 * {@link #execute} are not fenced: {@code record.store()}, batches and plain SQL among them. To fence whole transactions
 * use jOOQ on the connection of {@link io.ringfence.fencing.ResourceFence#inTransaction}, {@code DSL.using(connection,
 * SQLDialect.POSTGRES)}; this class works inside of one.
 *
 * <p>Works on PostgreSQL with jOOQ 3.19, through its query object model, which jOOQ calls experimental. Serves one
 * database. Keep it and share it; thread-safe.
 */
public final class JooqFence {
    private final String column;
    private final List<String> keys;
    private final FencedWriter writer;

    private JooqFence(String column, List<String> keys) {
        this.column = column;
        this.keys = keys;
        this.writer = new FencedWriter(column);
    }

    /**
     * {@return a fence on the tables that have this token column}
     *
     * @param column the column, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public static JooqFence onColumn(String column) {
        return new JooqFence(SqlName.parse(column, 1).last(), List.of());
    }

    /**
     * {@return a fence that finds the row by its key when a statement wrote nothing, and so can tell a newer leader from a
     * missing row} It takes effect in queries whose condition compares each key column with a value by {@code eq}, joined
     * to the rest by {@code and}.
     *
     * @param column the key column, as SQL writes it
     * @param more the other columns of the key
     * @throws IllegalArgumentException if one of them is not a name
     */
    public JooqFence key(String column, String... more) {
        return new JooqFence(
                this.column,
                Stream.concat(Stream.of(column), Stream.of(more))
                        .map(name -> SqlName.parse(name, 1).last())
                        .toList());
    }

    /**
     * Runs a finished UPDATE or DELETE that is to write exactly one row, if the row carries no higher token; an UPDATE
     * leaves our token on it. The query itself stays as it is.
     *
     * <p>It runs on one connection of the query's {@link Configuration}, in whatever transaction that is in, and leaves
     * the transaction alone. After any exception but {@link io.ringfence.fencing.NoMatchingRowException} roll it back.
     * A {@code queryTimeout} of the query itself is not kept: set one for all queries with
     * {@link org.jooq.conf.Settings#withQueryTimeout}.
     *
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param query an UPDATE or DELETE of one table, without {@code WITH}, {@code FROM}, {@code USING}, {@code ORDER BY},
     *     {@code LIMIT} and {@code RETURNING}
     * @return 1
     * @throws io.ringfence.fencing.FencedOutException if no row was written
     * @throws io.ringfence.fencing.NoMatchingRowException if no row was written because none matches, and no newer leader
     *     is the cause
     * @throws io.ringfence.fencing.TooManyRowsException if more than one row was written: roll back
     * @throws io.ringfence.election.LeaseLostException if the lease is lost; nothing was sent
     * @throws io.ringfence.election.TokenRegressionException if a higher token was found, and Consul confirms that the
     *     lease is the current one
     * @throws NotFenceableException if the query or its target cannot be fenced; nothing was written
     * @throws io.ringfence.fencing.FenceSchemaException if the token column is missing or of the wrong type
     * @throws IllegalArgumentException if the query has no {@link Configuration} with a connection
     * @throws IllegalStateException if the connection belongs to a fenced transaction with another token
     * @throws DataAccessException if the database refuses for reasons of its own
     */
    public int execute(FencingTokenSource source, Query query) {
        Configuration configuration = query.configuration();
        if (configuration == null) {
            throw new IllegalArgumentException(
                    "The query is not attached to a Configuration: create it with DSL.using(..) instead of DSL's statics");
        }
        if (configuration.family() != SQLDialect.POSTGRES) {
            throw new NotFenceableException("Fences work on PostgreSQL only; this query's dialect is "
                    + configuration.dialect() + ". Nothing was run: use SQLDialect.POSTGRES");
        }
        ConnectionProvider connections = configuration.connectionProvider();
        Connection connection = connections.acquire();
        if (connection == null) {
            throw new IllegalArgumentException("The query's Configuration has no connection");
        }
        try {
            return writer.write(connection, source, FencedQuery.of(on(connection, configuration), query, column, keys));
        } catch (SQLException e) {
            throw new DataAccessException("A fenced query failed: " + e.getMessage(), e);
        } finally {
            connections.release(connection);
        }
    }

    /** Keeps everything of a configuration but its connections, so that all statements run on one. */
    private static Configuration on(Connection connection, Configuration configuration) {
        Configuration derived = configuration.derive();
        if (!(derived instanceof DefaultConfiguration own)) {
            throw new IllegalArgumentException(
                    "The query's Configuration must derive from jOOQ's DefaultConfiguration, "
                            + derived.getClass().getName() + " does not");
        }
        own.setConnection(connection);
        return own;
    }
}
