package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A compiled statement with the caller's parameters, on the caller's connection. */
final class JdbcWrite implements RowWrite {
    private final Connection connection;
    private final FencedStatement statement;
    private final @Nullable Object[] parameters;

    JdbcWrite(Connection connection, FencedStatement statement, @Nullable Object[] parameters) {
        this.connection = connection;
        this.statement = statement;
        this.parameters = parameters;
    }

    @Override
    public SqlName table() {
        return statement.table();
    }

    @Override
    public @Nullable String key() {
        return statement.keyText(parameters);
    }

    @Override
    public int run(long token) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(statement.sql())) {
            bind(update, statement.binds(), token);
            return update.executeUpdate();
        }
    }

    @Override
    public Found look() throws SQLException {
        try (PreparedStatement read = connection.prepareStatement(statement.diagnosis())) {
            bind(read, statement.diagnosisBinds(), 0);
            try (ResultSet row = read.executeQuery()) {
                row.next();
                long rows = row.getLong(1);
                return new Found(rows, rows == 0 ? null : row.getLong(2), row.getBoolean(3));
            }
        }
    }

    private void bind(PreparedStatement prepared, List<Integer> order, long token) throws SQLException {
        int index = 1;
        for (int parameter : order) {
            if (parameter == FencedStatement.TOKEN) {
                prepared.setLong(index++, token);
            } else {
                prepared.setObject(index++, parameters[parameter]);
            }
        }
    }
}
