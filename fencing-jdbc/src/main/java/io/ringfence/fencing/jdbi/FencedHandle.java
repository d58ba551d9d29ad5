package io.ringfence.fencing.jdbi;

import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jdbi.v3.core.statement.Update;
import org.jspecify.annotations.Nullable;

/**
 * A handle and a lease: makes JDBI's own statements, fenced.
 *
 * <pre>{@code
 * fence.on(handle, lease)
 *         .createUpdate("UPDATE invoice SET status = :status WHERE id = :id")
 *         .bind("status", "closed")
 *         .bind("id", id)
 *         .execute();
 * }</pre>
 *
 * <p>What can be fenced, and what is thrown when, stands at {@link JdbiFence}. A statement is fenced when it runs; one that
 * is made and never run does nothing, as ever in JDBI. Belongs to the thread of its handle.
 */
public final class FencedHandle {
    private final Handle handle;
    private final FencedCall call;

    FencedHandle(Handle handle, FencedCall call) {
        this.handle = handle;
        this.call = call;
    }

    /**
     * {@return a fenced UPDATE, DELETE or INSERT} Generated keys work, as does RETURNING whose rows are not wanted.
     *
     * @param sql the statement
     */
    public Update createUpdate(String sql) {
        return fenced(handle.createUpdate(sql));
    }

    /**
     * {@return a fenced statement with RETURNING, whose rows are to be read} It is run, and its rows are counted, before
     * the first one is read.
     *
     * @param sql the statement
     */
    public Query createQuery(String sql) {
        return fenced(handle.createQuery(sql));
    }

    /**
     * {@return a fenced batch} Outside of a transaction it runs in a short one of its own. All of it is looked at before
     * anything is committed.
     *
     * @param sql the statement
     */
    public PreparedBatch prepareBatch(String sql) {
        return fenced(handle.prepareBatch(sql));
    }

    /**
     * Runs a fenced statement with positional parameters.
     *
     * @param sql the statement
     * @param parameters one value for each {@code ?}
     * @return how many rows were written
     */
    public int execute(String sql, @Nullable Object... parameters) {
        try (Update update = createUpdate(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                update.bind(i, parameters[i]);
            }
            return update.execute();
        }
    }

    private <S extends SqlStatement<S>> S fenced(S statement) {
        try {
            call.mark(statement, "");
            return statement;
        } catch (RuntimeException e) {
            statement.close();
            throw e;
        }
    }
}
