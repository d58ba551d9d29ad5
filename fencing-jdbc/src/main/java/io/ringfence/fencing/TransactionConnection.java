package io.ringfence.fencing;

import io.ringfence.fencing.internal.FencedTransaction;
import io.ringfence.fencing.internal.TransactionControl;
import java.sql.Connection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connection that work gets: it cannot end the transaction, and does not work after its end. */
final class TransactionConnection implements JdbcProxy.Calls {
    private static final Set<String> REFUSED =
            Set.of("commit", "setAutoCommit", "close", "abort", "setReadOnly", "setTransactionIsolation");

    private final SealedTransaction transaction;

    private TransactionConnection(SealedTransaction transaction) {
        this.transaction = transaction;
    }

    static Connection of(SealedTransaction transaction, Connection raw) {
        return JdbcProxy.of(new TransactionConnection(transaction), raw);
    }

    @Override
    public FencedTransaction transaction() {
        return transaction;
    }

    @Override
    public @Nullable Object call(JdbcCall call) throws Throwable {
        // a cancel is for a call that is under way, and must not wait for it
        if (call.name().equals("cancel")) {
            return whileOpen(call);
        }
        transaction.inUse().lock();
        try {
            return whileOpen(call);
        } finally {
            transaction.inUse().unlock();
        }
    }

    private @Nullable Object whileOpen(JdbcCall call) throws Throwable {
        if (transaction.isEnded()) {
            return call.afterTheEnd("The fenced transaction has ended, and its connection with it");
        }
        if (call.isOnConnection()) {
            refuse(call.name(), call.arguments().size());
        }
        String sql = call.sql();
        if (sql != null) {
            TransactionControl.refuse(sql);
        }
        return call.run(this);
    }

    private static void refuse(String name, int arguments) {
        if (REFUSED.contains(name) || (name.equals("rollback") && arguments == 0)) {
            throw new IllegalStateException(name + "() is not for the work: this connection belongs to"
                    + " ResourceFence.inTransaction, which commits after the work returns and rolls back if it throws");
        }
    }
}
