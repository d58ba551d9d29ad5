package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.RowWrite;
import io.ringfence.fencing.internal.SqlName;
import io.ringfence.fencing.internal.SqlTemplate;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A statement that JDBI has prepared and bound. */
final class RecordedWrite implements RowWrite {
    private final Connection connection;
    private final FencedStatement statement;
    private final RecordedParameters parameters;
    private final Run run;

    RecordedWrite(Connection connection, FencedStatement statement, RecordedParameters parameters, Run run) {
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
        return statement.reads().keyText(parameters.values());
    }

    @Override
    public long run(long token) throws SQLException {
        return run.run(token);
    }

    @Override
    public Found look() throws SQLException {
        return statement.reads().diagnosis().read(connection, 0, parameters::bind);
    }

    @Override
    public boolean explains(Found found) {
        return statement.reads().explains(found);
    }

    @Override
    public Found skipped(long token) throws SQLException {
        SqlTemplate skipped = statement.reads().skipped();
        return skipped == null ? Found.NOTHING : skipped.read(connection, token, parameters::bind);
    }

    /** Runs the statement and returns how many rows it wrote. */
    @FunctionalInterface
    interface Run {

        long run(long token) throws SQLException;
    }
}
