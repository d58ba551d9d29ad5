package io.ringfence.fencing;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One row to write, for those who have a table and values and no SQL.
 *
 * <pre>{@code
 * fence.row("invoice").where("id", id).set("status", "closed").update(connection, lease);
 * fence.row("invoice").where("id", id).set("status", "new").upsert(connection, lease);
 * }</pre>
 *
 * <p>It writes the statement and hands it to {@link RowFence#update}, whose exceptions its methods throw; a row is expected
 * to be one. The columns of {@link #where} are the key: they tell which row an update or delete is about, are written by an
 * insert with all others, and are what an upsert looks for. Declare the same key by {@link RowFence#key}, so that a row
 * that is not there can be told from one of a newer leader.
 *
 * <p>Immutable: each call returns a new description, which can be kept and run again. Thread-safe as far as the values are.
 */
public final class FencedRow {
    private final RowFence fence;
    private final String table;
    private final Map<String, Object> key;
    private final Map<String, @Nullable Object> values;

    private FencedRow(RowFence fence, String table, Map<String, Object> key, Map<String, @Nullable Object> values) {
        this.fence = fence;
        this.table = table;
        this.key = key;
        this.values = values;
    }

    FencedRow(RowFence fence, String table) {
        this(fence.expecting(ExpectedRows.one()), table, Map.of(), Map.of());
    }

    /**
     * {@return this row with one more column of its key}
     *
     * @param column the column, as SQL writes it
     * @param value its value, not null
     */
    public FencedRow where(String column, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(key);
        more.put(column, Objects.requireNonNull(value, column));
        return new FencedRow(fence, table, more, values);
    }

    /**
     * {@return this row with one more column to write}
     *
     * @param column the column, as SQL writes it
     * @param value its value, set by {@link java.sql.PreparedStatement#setObject(int, Object)}
     */
    public FencedRow set(String column, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(values);
        more.put(column, value);
        return new FencedRow(fence, table, key, more);
    }

    /**
     * Updates the row, if it carries no higher token.
     *
     * @param connection where to
     * @param source the lease, or a bare token
     * @throws IllegalArgumentException if a name is none, or if there is no key or nothing to set
     * @throws SQLException if the database refuses for reasons of its own
     */
    public void update(Connection connection, FencingTokenSource source) throws SQLException {
        require(connection, true, true);
        String set = values.keySet().stream().map(column -> column + " = ?").collect(Collectors.joining(", "));
        run(connection, source, "UPDATE " + table + " SET " + set + condition(), values, key);
    }

    /**
     * Deletes the row, if it carries no higher token. Whatever was {@link #set} is left aside.
     *
     * @param connection where to
     * @param source the lease, or a bare token
     * @throws IllegalArgumentException if a name is none, or if there is no key
     * @throws SQLException if the database refuses for reasons of its own
     */
    public void delete(Connection connection, FencingTokenSource source) throws SQLException {
        require(connection, true, false);
        run(connection, source, "DELETE FROM " + table + condition(), key, Map.of());
    }

    /**
     * Inserts the row with our token on it. <b>No fence keeps a former leader from inserting a row that is new</b>; the
     * database refuses one that is there already.
     *
     * @param connection where to
     * @param source the lease, or a bare token
     * @throws IllegalArgumentException if a name is none, or if there is no column
     * @throws SQLException if the database refuses for reasons of its own
     */
    public void insert(Connection connection, FencingTokenSource source) throws SQLException {
        require(connection, false, false);
        run(connection, source, insert(table), key, values);
    }

    /**
     * Inserts the row, or updates it if it is there and carries no higher token. On PostgreSQL only, where the columns of
     * the key have a unique index.
     *
     * @param connection where to
     * @param source the lease, or a bare token
     * @throws NotFenceableException on another database: update first, and insert after a {@link NoMatchingRowException}
     * @throws IllegalArgumentException if a name is none, or if there is no key
     * @throws SQLException if the database refuses for reasons of its own
     */
    public void upsert(Connection connection, FencingTokenSource source) throws SQLException {
        require(connection, true, false);
        String set = values.keySet().stream()
                .map(column -> column + " = excluded." + column + ", ")
                .collect(Collectors.joining());
        String sql = insert(table + " AS ringfence_row") + " ON CONFLICT (" + String.join(", ", key.keySet())
                + ") DO UPDATE SET " + set + "{fence.set} WHERE {fence.where ringfence_row}";
        run(connection, source, sql, key, values);
    }

    private String condition() {
        return key.keySet().stream().map(column -> column + " = ?").collect(Collectors.joining(" AND ", " WHERE ", ""));
    }

    private String insert(String into) {
        String columns = Stream.concat(key.keySet().stream(), values.keySet().stream())
                .map(column -> column + ", ")
                .collect(Collectors.joining());
        return "INSERT INTO " + into + " (" + columns + "{fence.column}) VALUES ("
                + "?, ".repeat(key.size() + values.size()) + "{fence.token})";
    }

    private void run(
            Connection connection,
            FencingTokenSource source,
            String sql,
            Map<String, ? extends @Nullable Object> first,
            Map<String, ? extends @Nullable Object> second)
            throws SQLException {
        List<@Nullable Object> parameters = new ArrayList<>(first.values());
        parameters.addAll(second.values());
        fence.update(connection, source, sql, parameters.toArray());
    }

    private void require(Connection connection, boolean needsKey, boolean needsValues) throws SQLException {
        Dialect dialect = Dialect.of(connection);
        SqlName.parse(dialect, table, 3);
        Stream.concat(key.keySet().stream(), values.keySet().stream()).forEach(column -> {
            SqlName.parse(dialect, column, 1);
            if (key.containsKey(column) && values.containsKey(column)) {
                throw new IllegalArgumentException("Column " + column + " of " + table + " is both key and value");
            }
        });
        if (needsKey && key.isEmpty()) {
            throw new IllegalArgumentException("Which row of " + table + "? Name its key by where(..)");
        }
        if (needsValues ? values.isEmpty() : key.isEmpty() && values.isEmpty()) {
            throw new IllegalArgumentException("Nothing to write to " + table + ": name columns by set(..)");
        }
    }
}
