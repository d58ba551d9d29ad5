package io.ringfence.fencing.jooq;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.RowColumns;
import io.ringfence.fencing.internal.SqlName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.DataType;
import org.jooq.ExecuteListenerProvider;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.ResultQuery;
import org.jooq.Table;
import org.jooq.UpdatableRecord;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.CustomCondition;
import org.jooq.impl.CustomField;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Fences single rows that are written through jOOQ, as {@link io.ringfence.fencing.RowFence} does for JDBC: a row refuses a
 * lower token than the one it carries. It takes queries as they are, finished by jOOQ's DSL.
 *
 * <pre>{@code
 * JooqFence fence = JooqFence.onColumn("fencing_token");
 * fence.execute(lease, dsl.update(INVOICE).set(INVOICE.STATUS, "closed").where(INVOICE.ID.eq(id)));
 * fence.store(lease, record);
 * }</pre>
 *
 * <p>What is guaranteed and what is not stands at {@link io.ringfence.fencing.RowFence}. Only what comes through these
 * methods is fenced; {@link #safetyNet} refuses the rest. To fence whole transactions use {@link SealedTransactions}; this
 * works inside of them.
 *
 * <p><b>Queries.</b> UPDATE, DELETE and INSERT of one table, with its alias, {@code WITH} (of queries that only read),
 * {@code FROM}, {@code USING}, {@code ON CONFLICT}, {@code ON DUPLICATE KEY} and {@code RETURNING}. The query is not
 * changed: a copy is run, through the query object model, which jOOQ calls experimental; so what {@code bind} sets later, a
 * {@code queryTimeout} or {@code coerce} of the query itself, and what {@code UpdateQuery.setReturning} collects is not
 * kept. Use {@link org.jooq.conf.Settings#withQueryTimeout} for all queries. What jOOQ renders is held
 * against the grammar of plain JDBC statements before it is sent, so fragments of plain SQL cannot escape. Refused are
 * queries of plain SQL, {@code MERGE}, {@code ORDER BY} and {@code LIMIT} on a write, an own assignment of the token
 * column, and what writes within {@code WITH}.
 *
 * <p><b>Rows.</b> A query is to write one row unless {@link #expecting} says otherwise. If it wrote none, the row is looked
 * for by the {@linkplain #key declared key}, or else by the primary key of a generated table.
 *
 * <p><b>Databases.</b> PostgreSQL; H2 and MariaDB, where {@code WITH}, {@code FROM} and {@code USING} are refused. H2 does
 * not take over rows by {@code ON CONFLICT}. MariaDB does by {@code ON DUPLICATE KEY UPDATE}: its count cannot tell what
 * was written, so the rows are read back by their key, and counted.
 *
 * <p>Serves one database. Keep it and share it; thread-safe.
 */
public final class JooqFence {
    private final String column;
    private final List<String> keys;
    private final ExpectedRows expected;
    private final FencedWriter writer;
    private final Map<Dialect, DialectFence> dialects;

    private JooqFence(
            String column,
            List<String> keys,
            ExpectedRows expected,
            FencedWriter writer,
            Map<Dialect, DialectFence> dialects) {
        this.column = column;
        this.keys = keys;
        this.expected = expected;
        this.writer = writer;
        this.dialects = dialects;
    }

    /**
     * {@return a fence on the tables that have this token column}
     *
     * @param column the column, as SQL writes it; where the database folds names to upper case and the column is in lower
     *     case, with quotes
     * @throws IllegalArgumentException if that is not a name
     */
    public static JooqFence onColumn(String column) {
        SqlName.parse(column.startsWith("`") ? Dialect.MARIADB : Dialect.POSTGRES, column, 1);
        return new JooqFence(
                column, List.of(), ExpectedRows.one(), new FencedWriter(column), new ConcurrentHashMap<>());
    }

    /**
     * {@return a fence that finds the row by its key when a statement wrote nothing, and so can tell a newer leader from a
     * missing row} It takes effect in queries whose condition compares each key column with a value by {@code eq}, joined
     * to the rest by {@code and}, and in INSERTs with such values. Without it the primary key of generated tables is used.
     *
     * @param column the key column, as SQL writes it
     * @param more the other columns of the key
     * @throws IllegalArgumentException if one of them is not a name
     */
    public JooqFence key(String column, String... more) {
        List<String> all = Stream.concat(Stream.of(column), Stream.of(more)).toList();
        all.forEach(key -> SqlName.parse(key.startsWith("`") ? Dialect.MARIADB : Dialect.POSTGRES, key, 1));
        return new JooqFence(this.column, all, expected, writer, new ConcurrentHashMap<>());
    }

    /**
     * {@return the same fence with another expectation of how many rows a query writes} It shares what this one has
     * learned, so it can be asked for at each call. Records are always one row.
     *
     * @param rows what to expect; {@link ExpectedRows#one()} is the default
     */
    public JooqFence expecting(ExpectedRows rows) {
        return new JooqFence(column, keys, Objects.requireNonNull(rows, "rows"), writer, dialects);
    }

    /**
     * Runs a finished query, if the rows carry no higher token; an UPDATE or INSERT leaves our token on them.
     *
     * <p>It runs on one connection of the query's {@link Configuration}, in whatever transaction that is in, and leaves
     * the transaction alone. After any exception but {@link NoMatchingRowException} roll it back; inside a fenced
     * transaction the commit is refused.
     *
     * @param source the lease, or a bare token; asked before any SQL is sent
     * @param query an UPDATE, DELETE or INSERT
     * @return how many rows were written, within what is {@linkplain #expecting expected}
     * @throws io.ringfence.fencing.FencedOutException if no row was written
     * @throws NoMatchingRowException if no row was written because none matches, and no newer leader is the cause
     * @throws io.ringfence.fencing.PartiallyFencedException if fewer rows were written than expected, or a newer leader
     *     holds some that match
     * @throws io.ringfence.fencing.TooManyRowsException if more rows were written than expected: roll back
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
        return (int) run(source, query, Query::execute);
    }

    /**
     * Runs a query with RETURNING as {@link #execute} does, and returns its rows.
     *
     * @param <R> the type of the rows
     * @param source the lease, or a bare token
     * @param query an UPDATE, DELETE or INSERT with {@code returning} or {@code returningResult}
     * @return one row for each that was written
     * @throws NotFenceableException if the query or its target cannot be fenced, or the dialect has no such RETURNING;
     *     nothing was written
     */
    public <R extends Record> Result<R> fetch(FencingTokenSource source, ResultQuery<R> query) {
        List<Result<R>> found = new ArrayList<>();
        run(source, query, fenced -> {
            @SuppressWarnings("unchecked") // a copy returns what its original does
            ResultQuery<R> copy = (ResultQuery<R>) fenced;
            if (copy.getRecordType() != query.getRecordType() || !Arrays.equals(copy.fields(), query.fields())) {
                throw Refused.query(query, "the copy that is fenced would lose its coerce(..)", "Use Result.into(..)");
            }
            found.add(copy.fetch());
            return found.get(0).size();
        });
        return found.get(0);
    }

    private long run(FencingTokenSource source, Query query, ToLongFunction<Query> how) {
        FencingToken token = source.requireToken();
        Configuration configuration = Attached.require(query.configuration());
        DialectFence fence = fence(configuration);
        FencedQuery fenced = fence.query(query, configuration);
        requireSkippedKnown(fenced);
        return Attached.on(configuration, (connection, own) -> {
            SqlName table = fence.name(configuration, fenced.write().target());
            FenceCheck check = new FenceCheck(fence, List.of(new FenceCheck.Expected(table, fenced.isReturning())));
            Configuration checked = Attached.listening(own, null, check);
            JooqWrite write = new JooqWrite(new Reads(own, fence.dialect()), fence.token(), fenced, table, copy -> {
                copy.attach(checked);
                return how.applyAsLong(copy);
            });
            return writer.write(connection, source, token, write, expected);
        });
    }

    /**
     * Runs finished queries in one round trip, as {@link org.jooq.DSLContext#batch(Query...)} does, with one token.
     *
     * @param source the lease, or a bare token; asked once
     * @param queries UPDATEs, DELETEs and INSERTs with their values; of one {@link Configuration}
     * @return how many rows each wrote
     * @throws io.ringfence.fencing.PartiallyFencedException if some were written and others refused; it names them
     * @throws io.ringfence.fencing.FencedOutException if some were refused and none was written
     * @throws NotFenceableException if one of them cannot be fenced; nothing was written
     * @throws IllegalStateException if the connection is in auto-commit, or belongs to a fenced transaction with another
     *     token
     * @throws DataAccessException if the database refuses for reasons of its own
     */
    public int[] batch(FencingTokenSource source, Query... queries) {
        return batch(source, List.of(queries));
    }

    /**
     * Does what {@link #batch(FencingTokenSource, Query...)} does.
     *
     * @param source the lease, or a bare token; asked once
     * @param queries the queries
     * @return how many rows each wrote
     */
    public int[] batch(FencingTokenSource source, Collection<? extends Query> queries) {
        FencingToken token = source.requireToken();
        if (queries.isEmpty()) {
            return new int[0];
        }
        Configuration configuration = FencedQueries.configuration(queries);
        DialectFence fence = fence(configuration);
        List<FencedQuery> fenced =
                queries.stream().map(query -> fence.query(query, configuration)).toList();
        fenced.forEach(this::requireSkippedKnown);
        return Attached.on(configuration, (connection, own) -> {
            FencedQueries batch = FencedQueries.of(fenced, fence, configuration, own);
            long[] counts = writer.write(connection, source, token, batch.writes(), batch::run, expected);
            return Arrays.stream(counts).mapToInt(Math::toIntExact).toArray();
        });
    }

    /**
     * Stores a record as {@link UpdatableRecord#store()} does: inserts it if it is new, else updates it.
     *
     * <p>Record listeners, optimistic locking, generated values and the marks of what has changed work as ever. The record
     * gets the token, if its table has the column.
     *
     * @param source the lease, or a bare token
     * @param record a record with a primary key
     * @return 1; 0 if there was nothing to write, and nothing was sent
     * @throws io.ringfence.fencing.FencedOutException if a newer leader has written the row
     * @throws NoMatchingRowException if there is no such row
     * @throws org.jooq.exception.DataChangedException if jOOQ's optimistic locking found another version, and no newer
     *     leader wrote it
     * @throws NotFenceableException if the record assigns the token column; nothing was written
     * @throws DataAccessException if the database refuses for reasons of its own
     */
    public int store(FencingTokenSource source, UpdatableRecord<?> record) {
        return write(source, record, UpdatableRecord::store, true);
    }

    /**
     * Inserts a record as {@link UpdatableRecord#insert()} does; see {@link #store}.
     *
     * @param source the lease, or a bare token
     * @param record the record
     * @return 1; 0 if there was nothing to write
     */
    public int insert(FencingTokenSource source, UpdatableRecord<?> record) {
        return write(source, record, UpdatableRecord::insert, true);
    }

    /**
     * Updates a record as {@link UpdatableRecord#update()} does; see {@link #store}.
     *
     * @param source the lease, or a bare token
     * @param record the record
     * @return 1; 0 if there was nothing to write
     */
    public int update(FencingTokenSource source, UpdatableRecord<?> record) {
        return write(source, record, UpdatableRecord::update, true);
    }

    /**
     * Deletes a record as {@link UpdatableRecord#delete()} does; see {@link #store}.
     *
     * @param source the lease, or a bare token
     * @param record the record
     * @return 1
     */
    public int delete(FencingTokenSource source, UpdatableRecord<?> record) {
        return write(source, record, UpdatableRecord::delete, false);
    }

    private int write(
            FencingTokenSource source,
            UpdatableRecord<?> record,
            ToIntFunction<UpdatableRecord<?>> action,
            boolean leavesToken) {
        FencingToken token = source.requireToken();
        Configuration configuration = Attached.require(record.configuration());
        DialectFence fence = fence(configuration);
        RecordWrite.prepare(record, fence.token());
        return Attached.on(configuration, (connection, own) -> {
            RecordWrite write =
                    new RecordWrite(record, action, fence, fence.name(configuration, record.getTable()), own);
            try {
                writer.write(connection, source, token, write, ExpectedRows.one());
            } catch (NoMatchingRowException e) {
                throw write.changed() == null ? e : RecordWrite.because(e, write.changed());
            }
            if (write.hasWritten() && leavesToken) {
                write.refresh(token.value());
            }
            return write.hasWritten() ? 1 : 0;
        });
    }

    /**
     * {@return a fenced copy of a query, to look at or to run} The token is a literal in it. Whoever runs it has to check
     * the count; the target is not asked for in the catalog.
     *
     * @param source the lease, or a bare token
     * @param query an UPDATE, DELETE or INSERT
     * @throws io.ringfence.election.LeaseLostException if the lease is lost
     * @throws NotFenceableException if the query cannot be fenced
     * @throws IllegalArgumentException if the query has no {@link Configuration}
     */
    public Query fence(FencingTokenSource source, Query query) {
        FencingToken token = source.requireToken();
        Configuration configuration = Attached.require(query.configuration());
        DialectFence fence = fence(configuration);
        FencedQuery fenced = fence.query(query, configuration);
        Query copy = fenced.fenced(DSL.inline(token.value(), fence.token().alone()));
        copy.attach(configuration);
        FenceCheck.check(
                fence,
                fence.textOnce(copy.getSQL()),
                new FenceCheck.Expected(fence.name(configuration, fenced.write().target()), fenced.isReturning()),
                copy.getSQL());
        return copy;
    }

    /**
     * {@return the condition that a row carries no higher token} For statements that cannot be fenced as they are, such as
     * {@code whenMatchedAnd(..)} of a MERGE: there the caller checks the count.
     *
     * @param source the lease, or a bare token
     * @param table the table written to, or its alias
     * @throws io.ringfence.election.LeaseLostException if the lease is lost
     */
    public Condition condition(FencingTokenSource source, Table<?> table) {
        long token = source.requireToken().value();
        return CustomCondition.of(context -> {
            TokenColumn own = fence(context.configuration()).token();
            context.visit(TokenColumn.notNewer(own.of(table), DSL.inline(token, own.alone())));
        });
    }

    /**
     * {@return the assignment of the token} For {@code set(..)} of statements that cannot be fenced as they are.
     *
     * @param source the lease, or a bare token
     * @throws io.ringfence.election.LeaseLostException if the lease is lost
     */
    public Map<Field<?>, Object> assignment(FencingTokenSource source) {
        DataType<Long> type = SQLDataType.BIGINT.notNull();
        Field<Long> target = CustomField.of(
                column,
                type,
                context -> context.visit(fence(context.configuration()).token().alone()));
        return Map.of(target, DSL.inline(source.requireToken().value(), type));
    }

    /**
     * {@return a listener for a {@link Configuration} that refuses writes to these tables unless they are fenced, by
     * {@link io.ringfence.fencing.UnfencedWriteException} before anything is sent}
     *
     * <pre>{@code
     * configuration.set(fence.safetyNet("invoice", "payment"));
     * }</pre>
     *
     * <p>It reads every text that jOOQ executes through JDBC with this configuration or one that is derived from it:
     * queries, plain SQL, batches, records, the loader, several statements at once. Where a text cannot be read it is
     * refused if it contains the name. A MERGE passes if it compares the token at all. <b>It does not see</b> what runs
     * past jOOQ's listeners: connections that were taken out of jOOQ, R2DBC, other configurations; nor what functions,
     * procedures, triggers, rules, views and cascades write. For those there are
     * {@link io.ringfence.fencing.FenceSchema#rowGuard(String) guards} in the database. Tables are told by their names
     * alone, whatever the schema.
     *
     * @param table a table
     * @param more others
     */
    public ExecuteListenerProvider safetyNet(String table, String... more) {
        return new SafetyNet(
                this, Stream.concat(Stream.of(table), Stream.of(more)).toList());
    }

    RowColumns columns(Dialect dialect) {
        return fence(dialect).columns();
    }

    private DialectFence fence(Configuration configuration) {
        return fence(DialectFence.dialect(configuration.dialect()));
    }

    private DialectFence fence(Dialect dialect) {
        return dialects.computeIfAbsent(dialect, of -> new DialectFence(of, column, keys));
    }

    private void requireSkippedKnown(FencedQuery fenced) {
        if (expected.isOpen() && !fenced.write().knowsSkipped()) {
            throw Refused.query(
                    fenced.query(),
                    "which rows it meant cannot be told afterwards, and so not whether a newer leader kept some",
                    "Expect exactly(n) rows, or declare a key and give plain values for it");
        }
    }
}
