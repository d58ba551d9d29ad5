package io.ringfence.fencing.jdbi;

import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.NotFenceableException;
import java.lang.reflect.Method;
import java.util.stream.IntStream;
import org.jdbi.v3.core.extension.AttachedExtensionHandler;
import org.jdbi.v3.core.extension.ExtensionHandler;
import org.jdbi.v3.core.extension.ExtensionHandlerCustomizer;
import org.jdbi.v3.core.extension.HandleSupplier;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.transaction.Transaction;
import org.jspecify.annotations.Nullable;

/** Looks at all methods of SQL objects when they are made, and puts a transaction around fenced batches. */
final class FencedMethods implements ExtensionHandlerCustomizer {

    @Override
    public ExtensionHandler customize(ExtensionHandler handler, Class<?> type, Method method) {
        boolean fenced = new MethodCheck(type, method).isFenced();
        boolean transactional =
                method.isAnnotationPresent(Transaction.class) || type.isAnnotationPresent(Transaction.class);
        // @Transaction has a level of its own, which a transaction around it would not have
        return fenced && method.isAnnotationPresent(SqlBatch.class) && !transactional
                ? (config, target) -> inTransaction(handler.attachTo(config, target), type, method)
                : handler;
    }

    private static AttachedExtensionHandler inTransaction(
            AttachedExtensionHandler batch, Class<?> type, Method method) {
        int lease = IntStream.range(0, method.getParameterCount())
                .filter(i -> method.getParameters()[i].isAnnotationPresent(Fenced.class))
                .findFirst()
                .orElseThrow();
        return (HandleSupplier handles, Object... arguments) -> {
            requireToken(arguments[lease], type, method);
            return handles.getHandle().<Object, Exception>inTransaction(inside -> batch.invoke(handles, arguments));
        };
    }

    /** Asks before the transaction begins. */
    private static void requireToken(@Nullable Object lease, Class<?> type, Method method) {
        try {
            Fenced.Factory.source(type, method, lease).requireToken();
        } catch (LeaseLostException e) {
            e.addSuppressed(
                    new NotFenceableException("A fenced batch was not run: the lease is lost; nothing was sent\nIn "
                            + Names.of(type, method) + ": " + method));
            throw e;
        }
    }
}
