package io.ringfence.fencing.jdbi;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedStatement;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jdbi.v3.core.statement.StatementBuilder;
import org.jdbi.v3.core.statement.StatementContext;

/**
 * Prepares the statements of one handle. What it gets is plain JDBC text, after the user's template engine and parser; a
 * statement that is marked is fenced here, and all others pass.
 */
final class FencedStatementBuilder implements StatementBuilder {
    private final StatementBuilder own;

    FencedStatementBuilder(StatementBuilder own) {
        this.own = own;
    }

    @Override
    public Statement create(Connection connection, StatementContext context) throws SQLException {
        return own.create(connection, context);
    }

    @Override
    public PreparedStatement create(Connection connection, String sql, StatementContext context) throws SQLException {
        FencedCall call = FencedCall.of(context);
        if (call == null) {
            return own.create(connection, sql, context);
        }
        try {
            FencedStatement fenced = call.compile(Dialect.of(connection), sql);
            fenced.requireParameters(context.getParsedSql().getParameters().getParameterCount());
            FencedPrepared prepared =
                    new FencedPrepared(prepare(connection, fenced, context), this, connection, fenced, call, context);
            return (PreparedStatement) Proxy.newProxyInstance(
                    FencedPrepared.class.getClassLoader(), new Class<?>[] {PreparedStatement.class}, prepared);
        } catch (RuntimeException e) {
            throw FencedCall.located(e, context);
        }
    }

    /** What RETURNING returns is counted before it is read, and so has to be scrolled. */
    private PreparedStatement prepare(Connection connection, FencedStatement fenced, StatementContext context)
            throws SQLException {
        String sql = fenced.fenced().sql();
        if (context.isConcurrentUpdatable()) {
            throw new NotFenceableException("What a fenced statement returns cannot be updated, because such an update"
                    + " would not be fenced: leave concurrentUpdatable() out");
        }
        return returns(fenced, context)
                ? connection.prepareStatement(sql, ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)
                : own.create(connection, sql, context);
    }

    private static boolean returns(FencedStatement fenced, StatementContext context) {
        return fenced.isReturning() && !context.isReturningGeneratedKeys();
    }

    @Override
    public CallableStatement createCall(Connection connection, String sql, StatementContext context)
            throws SQLException {
        if (FencedCall.of(context) != null) {
            throw FencedCall.located(
                    new NotFenceableException("A call of a procedure cannot be fenced by row: run it in"
                            + " JdbiFence.inTransaction, which fences whatever a transaction does"),
                    context);
        }
        return own.createCall(connection, sql, context);
    }

    @Override
    public void close(Connection connection, String sql, Statement statement) throws SQLException {
        if (statement != null && statement.isWrapperFor(FencedPrepared.class)) {
            statement.unwrap(FencedPrepared.class).close();
        } else {
            own.close(connection, sql, statement);
        }
    }

    void close(Connection connection, FencedStatement fenced, StatementContext context, PreparedStatement prepared)
            throws SQLException {
        if (returns(fenced, context)) {
            prepared.close();
        } else {
            own.close(connection, fenced.fenced().sql(), prepared);
        }
    }

    @Override
    public void close(Connection connection) {
        own.close(connection);
    }
}
