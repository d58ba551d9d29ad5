package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects what a statement returns, by RETURNING or as generated keys; each row that it wrote returns one. */
final class ReturnedRows<R extends @Nullable Object> implements JdbcRun {
    private final String @Nullable [] keys;
    private final RowMapper<R> mapper;
    private final List<R> rows = new ArrayList<>();

    private ReturnedRows(String @Nullable [] keys, RowMapper<R> mapper) {
        this.keys = keys;
        this.mapper = mapper;
    }

    static <R extends @Nullable Object> ReturnedRows<R> ofClause(RowMapper<R> mapper) {
        return new ReturnedRows<>(null, mapper);
    }

    static <R extends @Nullable Object> ReturnedRows<R> ofKeys(List<String> columns, RowMapper<R> mapper) {
        return new ReturnedRows<>(columns.toArray(String[]::new), mapper);
    }

    List<R> rows() {
        return rows;
    }

    @Override
    public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return keys == null ? connection.prepareStatement(sql) : connection.prepareStatement(sql, keys);
    }

    @Override
    public long execute(PreparedStatement write) throws SQLException {
        if (keys == null) {
            try (ResultSet returned = write.executeQuery()) {
                return collect(returned);
            }
        }
        long count = JdbcRun.update(write);
        try (ResultSet generated = write.getGeneratedKeys()) {
            collect(generated);
        }
        return count;
    }

    private long collect(ResultSet result) throws SQLException {
        long count = 0;
        while (result.next()) {
            rows.add(mapper.map(result));
            count++;
        }
        return count;
    }
}
