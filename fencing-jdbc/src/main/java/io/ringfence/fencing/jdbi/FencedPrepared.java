package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.SqlTemplate;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * A prepared statement that runs fenced. It takes the parameters where the user's text has them, puts the token between,
 * and judges the rows that were written before JDBI learns of them, a batch as a whole.
 */
final class FencedPrepared implements InvocationHandler {
    private static final Set<String> RUNS = Set.of("execute", "executeQuery", "executeUpdate", "executeLargeUpdate");
    private static final Set<String> RUNS_BATCH = Set.of("executeBatch", "executeLargeBatch");
    private static final Set<String> LIMITS = Set.of("setMaxRows", "setLargeMaxRows");

    private final PreparedStatement real;
    private final FencedStatementBuilder builder;
    private final Connection connection;
    private final FencedStatement fenced;
    private final FencedCall call;
    private final StatementContext context;
    private final List<RecordedWrite> entries = new ArrayList<>();
    private RecordedParameters parameters;
    private @Nullable ResultSet returned;
    private long count = -1;

    FencedPrepared(
            PreparedStatement real,
            FencedStatementBuilder builder,
            Connection connection,
            FencedStatement fenced,
            FencedCall call,
            StatementContext context) {
        this.real = real;
        this.builder = builder;
        this.connection = connection;
        this.fenced = fenced;
        this.call = call;
        this.context = context;
        this.parameters = new RecordedParameters(fenced.parameters());
    }

    void close() throws SQLException {
        builder.close(connection, fenced, context, real);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        String name = method.getName();
        @Nullable Object[] given = arguments == null ? new Object[0] : arguments;
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, given);
        }
        if (given.length == 0) {
            return withoutArguments(method, name);
        }
        if (given[0] instanceof String && (name.startsWith("execute") || name.equals("addBatch"))) {
            throw new SQLFeatureNotSupportedException("This statement is prepared, and takes no other text");
        }
        if (given[0] == FencedPrepared.class) {
            return name.equals("unwrap") ? this : true;
        }
        if (LIMITS.contains(name) && fenced.isReturning() && !Long.valueOf(0).equals(((Number) given[0]).longValue())) {
            throw FencedCall.located(
                    new NotFenceableException("The rows that a fenced statement returns are counted, so they cannot be"
                            + " limited: leave setMaxRows out"),
                    context);
        }
        if (method.getDeclaringClass() == PreparedStatement.class && name.startsWith("set")) {
            bind(method, given);
            return null;
        }
        return Jdbc.call(method, real, given);
    }

    private @Nullable Object withoutArguments(Method method, String name) throws SQLException {
        if (RUNS.contains(name)) {
            return execute(name);
        }
        if (RUNS_BATCH.contains(name)) {
            long[] counts = executeBatch();
            return name.equals("executeLargeBatch")
                    ? counts
                    : Arrays.stream(counts).mapToInt(rows -> (int) rows).toArray();
        }
        switch (name) {
            case "addBatch" -> addBatch();
            case "clearBatch" -> entries.clear();
            case "clearParameters" -> parameters = new RecordedParameters(fenced.parameters());
            case "getParameterMetaData" ->
                throw new SQLFeatureNotSupportedException("A fenced statement does not describe its parameters");
            case "getResultSet" -> {
                return returned == null ? real.getResultSet() : returned;
            }
            case "getUpdateCount" -> {
                return returned == null ? real.getUpdateCount() : (int) count;
            }
            case "getLargeUpdateCount" -> {
                return returned == null ? Jdbc.call(method, real, null) : count;
            }
            default -> {
                return Jdbc.call(method, real, null);
            }
        }
        return null;
    }

    @SuppressWarnings("ReferenceEquality") // a statement equals only itself
    private Object ofObject(Object proxy, String name, @Nullable Object[] given) {
        return switch (name) {
            case "equals" -> proxy == given[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "fenced " + real;
        };
    }

    private void bind(Method method, @Nullable Object[] given) throws SQLException {
        int parameter = RecordedParameters.index(given);
        if (parameter < 0 || parameter >= parameters.count()) {
            throw new SQLException("The statement has " + parameters.count() + " parameters and no number "
                    + (parameter + 1) + " (the fence adds its own)");
        }
        parameters.record(method, given);
        List<Integer> binds = fenced.fenced().binds();
        for (int i = 0; i < binds.size(); i++) {
            if (binds.get(i) == parameter) {
                parameters.bind(real, i + 1, parameter);
            }
        }
    }

    private void bindToken(long token) throws SQLException {
        List<Integer> binds = fenced.fenced().binds();
        for (int i = 0; i < binds.size(); i++) {
            if (binds.get(i) == SqlTemplate.TOKEN) {
                real.setLong(i + 1, token);
            }
        }
    }

    private Object execute(String name) throws SQLException {
        RecordedWrite write = new RecordedWrite(connection, fenced, parameters, token -> {
            bindToken(token);
            return run();
        });
        long rows = guarded(token -> call.writer().write(connection, call.source(), token, write, call.expected()));
        return switch (name) {
            case "executeQuery" -> Objects.requireNonNull(returned, "returned");
            case "executeUpdate" -> (int) rows;
            case "executeLargeUpdate" -> rows;
            default -> returned != null;
        };
    }

    private long run() throws SQLException {
        returned = null;
        if (!real.execute()) {
            return updateCount();
        }
        ResultSet rows = real.getResultSet();
        returned = rows;
        count = rows.last() ? rows.getRow() : 0;
        rows.beforeFirst();
        return count;
    }

    private long updateCount() throws SQLException {
        try {
            return real.getLargeUpdateCount();
        } catch (UnsupportedOperationException e) {
            return real.getUpdateCount();
        }
    }

    private void addBatch() throws SQLException {
        entries.add(new RecordedWrite(connection, fenced, parameters.copy(), token -> {
            throw new IllegalStateException("An entry of a batch does not run alone");
        }));
        bindToken(call.requireToken(context).value());
        real.addBatch();
    }

    private long[] executeBatch() throws SQLException {
        if (fenced.isReturning()) {
            throw FencedCall.located(
                    new NotFenceableException("A batch returns no rows, and this statement has RETURNING: leave it out,"
                            + " ask for generated keys, or run the statement once for each entry"),
                    context);
        }
        List<RecordedWrite> batch = List.copyOf(entries);
        entries.clear();
        return guarded(token -> ShortTransaction.run(
                connection,
                () -> call.writer()
                        .write(connection, call.source(), token, batch, value -> counts(), call.expected())));
    }

    private long[] counts() throws SQLException {
        try {
            return real.executeLargeBatch();
        } catch (UnsupportedOperationException e) {
            return Arrays.stream(real.executeBatch()).asLongStream().toArray();
        }
    }

    /** Runs with the token, and says where a refusal comes from. JDBI does not close a statement that is refused. */
    private <R> R guarded(Fencing<R> fencing) throws SQLException {
        try {
            return fencing.run(call.requireToken(context));
        } catch (RuntimeException e) {
            try {
                real.close();
            } catch (SQLException failure) {
                e.addSuppressed(failure);
            }
            throw FencedCall.located(e, context);
        }
    }

    /** What is done with a token. */
    @FunctionalInterface
    private interface Fencing<R> {

        R run(FencingToken token) throws SQLException;
    }
}
