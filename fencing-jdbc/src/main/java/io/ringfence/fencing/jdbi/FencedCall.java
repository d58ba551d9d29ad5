package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingToken;
import io.ringfence.election.FencingTokenSource;
import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.FencedStatement;
import io.ringfence.fencing.internal.FencedWriter;
import io.ringfence.fencing.internal.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jdbi.v3.core.config.JdbiConfig;
import org.jdbi.v3.core.extension.ExtensionMethod;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jdbi.v3.core.statement.StatementContext;
import org.jdbi.v3.core.statement.StatementCustomizer;
import org.jspecify.annotations.Nullable;

/**
 * That a statement of JDBI is fenced, and how. It travels in the configuration of that one statement, so that nothing of
 * the handle's is touched.
 *
 * @param source the lease
 * @param writer runs it
 * @param statements compiles it
 * @param expected how many rows it is to write
 */
record FencedCall(FencingTokenSource source, FencedWriter writer, StatementCache statements, ExpectedRows expected) {
    /** Makes a statement be fenced when it runs. A batch of a SQL object comes here once for each entry. */
    void mark(SqlStatement<?> statement, String alias) {
        StatementContext context = statement.getContext();
        requireToken(context);
        if (of(context) != null) {
            return;
        }
        if (!(statement.getHandle().getStatementBuilder() instanceof FencedStatementBuilder)) {
            throw refused(
                    "its handle has another StatementBuilder than the one that the JdbiFence installed. Call"
                            + " jdbi.installPlugin(fence) before handles are opened, and set your own builder by"
                            + " jdbi.setStatementBuilderFactory",
                    context);
        }
        statement.getConfig(Mark.class).call = this;
        define(statement, "fenceSet", "{fence.set}");
        define(statement, "fenceWhere", alias.isEmpty() ? "{fence.where}" : "{fence.where " + alias + "}");
        define(statement, "fenceColumn", "{fence.column}");
        define(statement, "fenceToken", "{fence.token}");
        statement.addCustomizer(new Certain());
    }

    /** Some template engines take no attribute that they do not know. */
    private static void define(SqlStatement<?> statement, String name, String marker) {
        if (statement.getContext().getRawSql().contains(name)) {
            statement.define(name, marker);
        }
    }

    static @Nullable FencedCall of(StatementContext context) {
        return context.getConfig(Mark.class).call;
    }

    FencingToken requireToken(StatementContext context) {
        try {
            return source.requireToken();
        } catch (LeaseLostException e) {
            e.addSuppressed(refused("the lease is lost; nothing was sent", context));
            throw e;
        }
    }

    FencedStatement compile(Dialect dialect, String sql) {
        return statements.get(dialect, sql, expected);
    }

    /** Says in the message of a refusal which method and which statement it is about. */
    static RuntimeException located(RuntimeException failure, StatementContext context) {
        if (failure instanceof FencingException refusal) {
            refusal.at(place(context));
        } else {
            FencedOutException.find(failure).ifPresent(refusal -> refusal.at(place(context)));
        }
        return failure;
    }

    private static NotFenceableException refused(String why, StatementContext context) {
        NotFenceableException refusal = new NotFenceableException("A fenced statement was not run: " + why);
        refusal.at(place(context));
        return refusal;
    }

    private static String place(StatementContext context) {
        ExtensionMethod method = context.getExtensionMethod();
        String sql = context.getRenderedSql() == null ? context.getRawSql() : context.getRenderedSql();
        return method == null ? sql : Names.of(method.getType(), method.getMethod()) + ": " + sql;
    }

    @Override
    public String toString() {
        return "fenced by " + source;
    }

    /** Stops a statement that something has put past the fence. */
    private static final class Certain implements StatementCustomizer {

        @Override
        public void beforeBinding(PreparedStatement statement, StatementContext context) throws SQLException {
            if (!statement.isWrapperFor(FencedPrepared.class)) {
                throw refused("its StatementBuilder was replaced, and prepared it without a fence", context);
            }
        }
    }

    /** What a statement carries, and that a {@code Jdbi} has the plugin; JDBI makes one for each. */
    public static final class Mark implements JdbiConfig<Mark> {
        private @Nullable FencedCall call;
        private boolean installed;

        /** Made by JDBI. */
        public Mark() {}

        void install() {
            if (installed) {
                throw new IllegalStateException("This Jdbi has a JdbiFence already, and needs no other: name another"
                        + " column by @Fenced(column = ..), or use the other fence's on(handle, lease)");
            }
            installed = true;
        }

        @Override
        public Mark createCopy() {
            Mark copy = new Mark();
            copy.call = call;
            copy.installed = installed;
            return copy;
        }
    }
}
