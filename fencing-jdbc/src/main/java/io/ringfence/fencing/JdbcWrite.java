package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import io.ringfence.fencing.internal.SqlTemplate;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A compiled statement with the caller's parameters, on the caller's connection. */
final class JdbcWrite implements RowWrite {
    private final Connection connection;
    private final FencedStatement statement;
    private final @Nullable Object[] parameters;
    private final JdbcRun run;

    JdbcWrite(Connection connection, FencedStatement statement, @Nullable Object[] parameters, JdbcRun run) {
        statement.requireParameters(parameters.length);
        this.connection = connection;
        this.statement = statement;
        this.parameters = parameters;
        this.run = run;
    }

    @Override
    public SqlName table() {
        return statement.table();
    }

    @Override
    public @Nullable String key() {
        return statement.reads().keyText(parameters);
    }

    @Override
    public long run(long token) throws SQLException {
        return run(statement.fenced(), token);
    }

    @Override
    public long runGuarded(Connection where, long token) throws SQLException {
        return run(statement.telling(), token);
    }

    private long run(SqlTemplate template, long token) throws SQLException {
        try (PreparedStatement write = run.prepare(connection, template.sql())) {
            bind(write, template, token);
            return run.execute(write);
        }
    }

    @Override
    public Found look() throws SQLException {
        return read(statement.reads().diagnosis(), 0);
    }

    @Override
    public boolean explains(Found found) {
        return statement.reads().explains(found);
    }

    @Override
    public Found skipped(long token) throws SQLException {
        SqlTemplate skipped = statement.reads().skipped();
        return skipped == null ? Found.NOTHING : read(skipped, token);
    }

    private Found read(SqlTemplate template, long token) throws SQLException {
        return template.read(connection, token, this::bind);
    }

    void bind(PreparedStatement prepared, SqlTemplate template, long token) throws SQLException {
        template.bind(prepared, token, this::bind);
    }

    private void bind(PreparedStatement prepared, int index, int parameter) throws SQLException {
        prepared.setObject(index, parameters[parameter]);
    }
}
