package io.ringfence.fencing;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.internal.BoundedCache;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fences single rows: every row carries the token of the last leader that wrote it, and refuses a lower one.
 *
 * <pre>{@code
 * RowFence fence = RowFence.onColumn("fencing_token").key("id");
 * fence.update(connection, lease, "UPDATE invoice SET status = ? WHERE id = ?", "closed", id);
 * }</pre>
 *
 * <p><b>Guaranteed.</b> A row never goes back to a lower token than one it has accepted through a fence, whatever the
 * conditions of the statement are, as long as no trigger changes the column. A statement that is not understood is refused
 * and never runs unfenced.
 *
 * <p><b>Not guaranteed.</b> Rows that the new leader has not written yet still accept the old one; inserts are not
 * fenced; a deleted row has forgotten its token. Two writers with the same token do not exclude each other. Where that
 * matters use {@link ResourceFence}, alone or together with this.
 *
 * <p>Works on PostgreSQL, on tables with a token column as {@link FenceSchema#tokenColumn(String)} prints it; that is
 * asked from the catalog once for each table name. So one {@code RowFence} serves one database, and where connections
 * differ in their {@code search_path}, write table names with their schema. Keep it and share it: it caches what it has
 * learned. Immutable otherwise, and thread-safe.
 */
public final class RowFence {
    private static final int CACHED_STATEMENTS = 500;

    private final String column;
    private final FencedWriter writer;
    private final BoundedCache<String, FencedStatement> statements;

    private RowFence(String column, List<String> keys) {
        this.column = column;
        this.writer = new FencedWriter(column);
        this.statements = new BoundedCache<>(CACHED_STATEMENTS, sql -> FencedStatement.compile(sql, column, keys));
    }

    /**
     * {@return a fence on the tables that have this token column}
     *
     * @param column the column, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public static RowFence onColumn(String column) {
        return new RowFence(SqlName.parse(column, 1).last(), List.of());
    }

    /**
     * {@return a fence that finds the row by its key when a statement wrote nothing, and so can tell a newer leader from
     * a missing row}
     *
     * <p>It takes effect in statements whose {@code WHERE} compares each key column with a parameter or literal by
     * {@code =}, joined to the rest by {@code AND}. In others, a row that is not there is
     * {@link FencedOutException.Reason#UNKNOWN}.
     *
     * @param column the key column, as SQL writes it
     * @param more the other columns of the key
     * @throws IllegalArgumentException if one of them is not a name
     */
    public RowFence key(String column, String... more) {
        return new RowFence(
                this.column,
                Stream.concat(Stream.of(column), Stream.of(more))
                        .map(name -> SqlName.parse(name, 1).last())
                        .toList());
    }

    /**
     * Runs an UPDATE or DELETE that is to write exactly one row, if the row carries no higher token; an UPDATE leaves
     * our token on it.
     *
     * <p>The statement is one of {@code UPDATE [ONLY] name [*] [[AS] alias] SET .. [WHERE ..]} and
     * {@code DELETE FROM [ONLY] name [*] [[AS] alias] [WHERE ..]}; sub-selects in brackets are fine. {@code WITH},
     * {@code FROM}, {@code USING}, {@code RETURNING} and everything else are refused.
     *
     * <p>The transaction of the caller is left alone: no commit, no rollback, no change of auto-commit, isolation or
     * read-only. After any exception but {@link NoMatchingRowException} roll it back. In a transaction of
     * {@link ResourceFence#inTransaction} its commit is then refused.
     *
     * <p>Blocks as the database does, and to ask Consul once if a lease is refused by a higher token.
     *
     * @param connection where to run it
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param sql the statement, with {@code ?} for parameters
     * @param parameters one value for each {@code ?}, set by {@link java.sql.PreparedStatement#setObject(int, Object)}
     * @return 1
     * @throws FencedOutException if no row was written; see {@link FencedOutException#reason()}
     * @throws NoMatchingRowException if no row was written because none matches, and no newer leader is the cause
     * @throws TooManyRowsException if more than one row was written: roll back
     * @throws io.ringfence.election.LeaseLostException if the lease is lost; nothing was sent
     * @throws io.ringfence.election.TokenRegressionException if a higher token was found, and Consul confirms that the
     *     lease is the current one
     * @throws NotFenceableException if the statement or its target cannot be fenced; nothing was written
     * @throws FenceSchemaException if the token column is missing or of the wrong type
     * @throws IllegalArgumentException if the number of parameters is wrong
     * @throws IllegalStateException if the connection belongs to a fenced transaction with another token
     * @throws SQLException if the database refuses for reasons of its own, serialization failures and deadlocks included
     */
    public int update(Connection connection, FencingTokenSource source, String sql, @Nullable Object... parameters)
            throws SQLException {
        FencedStatement statement = statements.get(sql);
        statement.requireParameters(parameters.length);
        return writer.write(connection, source, new JdbcWrite(connection, statement, parameters));
    }
}
