package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.StatementCache;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
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
 * and never runs unfenced. A write that does not affect the {@linkplain #expecting expected rows} throws, and says why.
 *
 * <p><b>Not guaranteed.</b> Rows that the new leader has not written yet still accept the old one; new rows are written by
 * whoever inserts them; a deleted row has forgotten its token. Two writers with the same token do not exclude each other.
 * What functions and triggers do that a statement calls is not seen, nor what foreign keys cascade to other tables. Where that matters use {@link ResourceFence}, alone or
 * together with this.
 *
 * <p><b>Statements.</b> Fenced as they stand are
 *
 * <pre>
 * UPDATE [ONLY] name [*] [[AS] alias] SET .. [WHERE ..] [RETURNING ..]
 * DELETE FROM [ONLY] name [*] [[AS] alias] [WHERE ..] [RETURNING ..]
 * </pre>
 *
 * with sub-selects in brackets wherever SQL allows them. In others the caller marks the places, and the fence checks that
 * nothing escapes:
 *
 * <ul>
 *   <li><code>{fence.set}</code>, the last assignment of a SET;
 *   <li><code>{fence.where}</code>, joined by AND to the rest of the WHERE, at its top. Beside a second table it names the
 *       one that is written to by its alias, or its name if it has none: <code>{fence.where i}</code>;
 *   <li><code>{fence.column}</code> and <code>{fence.token}</code>, at the same place of the columns and the values of an
 *       INSERT.
 * </ul>
 *
 * <p>On PostgreSQL that admits {@code WITH} (of queries that only read), {@code UPDATE .. FROM}, {@code DELETE .. USING} and
 * the upsert:
 *
 * <pre>{@code
 * INSERT INTO invoice (id, status, {fence.column}) VALUES (?, ?, {fence.token})
 *   ON CONFLICT (id) DO UPDATE SET status = excluded.status, {fence.set} WHERE {fence.where invoice}
 * }</pre>
 *
 * <p>Never fenced are LIMIT and ORDER BY on a write (they slide past fenced rows), MERGE, CALL, EXPLAIN, WHERE CURRENT OF,
 * writes inside WITH, several statements at once, and JDBC escapes.
 *
 * <p><b>Guards.</b> Where PostgreSQL has {@linkplain FenceSchema#rowGuard(String, String) guards}, every statement tells
 * them its token, for the rest of its transaction; batches are preceded by a statement that does. What a guard of another
 * table, or of COMMIT, refuses as stale is a {@link FencedOutException}. A guard that is created while this is in use
 * refuses once with SQLSTATE {@value FenceSchema#UNFENCED_SQLSTATE}: run the transaction again.
 *
 * <p><b>Databases.</b> PostgreSQL 14 and newer, MariaDB 10.11 and newer with its own driver (InnoDB, no Galera, not
 * with {@code useAffectedRows}), H2 2.x. They need a token column as {@link FenceSchema#tokenColumn(String)} prints it; that is
 * asked from the catalog once for each table name. One {@code RowFence} serves one database, and where connections differ
 * in their {@code search_path}, write table names with their schema. Keep it and share it: it caches what it has learned.
 * Immutable otherwise, and thread-safe.
 */
public final class RowFence {
    private final String column;
    private final ExpectedRows expected;
    private final FencedWriter writer;
    private final StatementCache statements;

    private RowFence(String column, ExpectedRows expected, FencedWriter writer, StatementCache statements) {
        this.column = column;
        this.expected = expected;
        this.writer = writer;
        this.statements = statements;
    }

    /**
     * {@return a fence on the tables that have this token column}
     *
     * @param column the column, as SQL writes it; statements get it written the same way
     * @throws IllegalArgumentException if that is not a name
     */
    public static RowFence onColumn(String column) {
        return new RowFence(
                column, ExpectedRows.one(), new FencedWriter(column), new StatementCache(column, List.of()));
    }

    /**
     * {@return a fence that finds the row by its key when a statement wrote nothing, and so can tell a newer leader from
     * a missing row}
     *
     * <p>It takes effect in statements whose {@code WHERE} compares each key column with a parameter or literal by
     * {@code =}, joined to the rest by {@code AND}, and in INSERTs with such values. In others, a row that is not there is
     * {@link FencedOutException.Reason#UNKNOWN}. So it is for an upsert whose conflict target is anything but the columns
     * of this key: the row that was in the way is then another one.
     *
     * @param column the key column, as SQL writes it
     * @param more the other columns of the key
     * @throws IllegalArgumentException if one of them is not a name
     */
    public RowFence key(String column, String... more) {
        List<String> keys = Stream.concat(Stream.of(column), Stream.of(more)).toList();
        return new RowFence(this.column, expected, writer, new StatementCache(this.column, keys));
    }

    /**
     * {@return the same fence with another expectation of how many rows a statement writes} It shares what this one has
     * learned, so it can be asked for at each call.
     *
     * @param rows what to expect; {@link ExpectedRows#one()} is the default
     */
    public RowFence expecting(ExpectedRows rows) {
        return new RowFence(column, Objects.requireNonNull(rows, "rows"), writer, statements);
    }

    /**
     * Runs a statement, if the rows carry no higher token; an UPDATE leaves our token on them.
     *
     * <p>The transaction of the caller is left alone: no commit, no rollback, no change of auto-commit, isolation or
     * read-only. After any exception but {@link NoMatchingRowException} roll it back. In a transaction of
     * {@link ResourceFence#inTransaction} its commit is then refused.
     *
     * <p>Blocks as the database does, and to ask Consul once if a lease is refused by a higher token. What was refused is
     * read in the same transaction: plainly on PostgreSQL and H2, with a share lock that waits two seconds at most on
     * MariaDB, whose plain reads see the past.
     *
     * @param connection where to run it
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param sql the statement, with {@code ?} for parameters
     * @param parameters one value for each {@code ?}, set by {@link java.sql.PreparedStatement#setObject(int, Object)}
     * @return how many rows were written, within what is {@linkplain #expecting expected}
     * @throws FencedOutException if no row was written; see {@link FencedOutException#reason()}
     * @throws NoMatchingRowException if no row was written because none matches, and no newer leader is the cause
     * @throws PartiallyFencedException if fewer rows were written than expected, or a newer leader holds some that match
     * @throws TooManyRowsException if more rows were written than expected: roll back
     * @throws IndeterminateCountException if the driver does not tell how many rows were written: roll back
     * @throws io.ringfence.election.LeaseLostException if the lease is lost; nothing was sent
     * @throws io.ringfence.election.TokenRegressionException if a higher token was found, and Consul confirms that the
     *     lease is the current one
     * @throws NotFenceableException if the statement or its target cannot be fenced; nothing was written
     * @throws FenceSchemaException if the token column is missing or of the wrong type
     * @throws FencingException if this is no database that row fences work on
     * @throws IllegalArgumentException if the number of parameters is wrong
     * @throws IllegalStateException if the connection belongs to a fenced transaction with another token
     * @throws SQLException if the database refuses for reasons of its own, serialization failures and deadlocks included
     */
    public long update(Connection connection, FencingTokenSource source, String sql, @Nullable Object... parameters)
            throws SQLException {
        FencingToken token = source.requireToken();
        FencedStatement statement = compile(Dialect.of(connection), sql);
        JdbcRun run = statement.isReturning() ? ReturnedRows.ofClause(ResultSet::getRow) : JdbcRun::update;
        return writer.write(connection, source, token, new JdbcWrite(connection, statement, parameters, run), expected);
    }

    /**
     * Runs a statement with RETURNING as {@link #update} does, and returns its rows.
     *
     * @param <R> what becomes of a row
     * @param connection where to run it
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param mapper reads one row; if it throws, the rows are written already
     * @param sql the statement
     * @param parameters one value for each {@code ?}
     * @return one value for each row that was written
     * @throws IllegalArgumentException if the statement has no RETURNING, or the number of parameters is wrong
     * @throws SQLException if the database refuses for reasons of its own
     */
    public <R extends @Nullable Object> List<R> returning(
            Connection connection,
            FencingTokenSource source,
            RowMapper<R> mapper,
            String sql,
            @Nullable Object... parameters)
            throws SQLException {
        FencingToken token = source.requireToken();
        FencedStatement statement = compile(Dialect.of(connection), sql);
        if (!statement.isReturning()) {
            throw new IllegalArgumentException("The statement has no RETURNING, so it returns no rows: " + sql);
        }
        ReturnedRows<R> rows = ReturnedRows.ofClause(mapper);
        writer.write(connection, source, token, new JdbcWrite(connection, statement, parameters, rows), expected);
        return rows.rows();
    }

    /**
     * Runs a statement as {@link #update} does, and returns what the database generated.
     *
     * @param <R> what becomes of a row of generated values
     * @param connection where to run it
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param columns the columns to return, as {@link Connection#prepareStatement(String, String[])} takes them
     * @param mapper reads one row; if it throws, the rows are written already
     * @param sql the statement, without RETURNING
     * @param parameters one value for each {@code ?}
     * @return what the driver returned; on PostgreSQL and H2 one value for each row that was written, on MariaDB only for
     *     rows that an INSERT numbered
     * @throws IllegalArgumentException if the statement has RETURNING, or the number of parameters is wrong
     * @throws SQLException if the database refuses for reasons of its own
     */
    public <R extends @Nullable Object> List<R> generatedKeys(
            Connection connection,
            FencingTokenSource source,
            List<String> columns,
            RowMapper<R> mapper,
            String sql,
            @Nullable Object... parameters)
            throws SQLException {
        FencingToken token = source.requireToken();
        FencedStatement statement = compile(Dialect.of(connection), sql);
        if (statement.isReturning()) {
            throw new IllegalArgumentException("The statement has RETURNING; run it by returning(..): " + sql);
        }
        ReturnedRows<R> rows = ReturnedRows.ofKeys(columns, mapper);
        writer.write(connection, source, token, new JdbcWrite(connection, statement, parameters, rows), expected);
        return rows.rows();
    }

    /**
     * {@return a batch of one statement, still empty} It expects of each entry what this fence expects.
     *
     * @param sql the statement, without RETURNING
     */
    public FencedBatch batch(String sql) {
        return new FencedBatch(this, sql);
    }

    /**
     * {@return a row of a table, to be described by columns and values instead of SQL}
     *
     * @param table the table, as SQL writes it
     */
    public FencedRow row(String table) {
        return new FencedRow(this, table);
    }

    FencedStatement compile(Dialect dialect, String sql) {
        return statements.get(dialect, sql, expected);
    }

    FencedWriter writer() {
        return writer;
    }

    ExpectedRows expected() {
        return expected;
    }
}
