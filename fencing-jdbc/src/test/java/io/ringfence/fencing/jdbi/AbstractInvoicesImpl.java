package io.ringfence.fencing.jdbi;

import io.ringfence.election.Lease;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import org.jdbi.v3.core.config.ConfigRegistry;
import org.jdbi.v3.core.extension.ExtensionFactory;
import org.jdbi.v3.core.extension.ExtensionMetadata;
import org.jdbi.v3.core.extension.Extensions;
import org.jdbi.v3.core.extension.HandleSupplier;

/** What JDBI's annotation processor writes for an abstract class: each method goes through its handler. */
final class AbstractInvoicesImpl extends AbstractInvoices {
    private final ExtensionMetadata metadata;
    private final HandleSupplier handles;
    private final ConfigRegistry config;

    private AbstractInvoicesImpl(ExtensionMetadata metadata, HandleSupplier handles, ConfigRegistry config) {
        this.metadata = metadata;
        this.handles = handles;
        this.config = config;
    }

    private Object invoke(String name, Object... arguments) {
        Method method = Stream.of(AbstractInvoices.class.getDeclaredMethods())
                .filter(declared -> declared.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return metadata.createExtensionHandlerInvoker(this, method, handles, config)
                .invoke(arguments);
    }

    @Override
    int close(Lease lease, String status, int id) {
        return (Integer) invoke("close", lease, status, id);
    }

    @Override
    String returning(Lease lease, String status, int id) {
        return (String) invoke("returning", lease, status, id);
    }

    @Override
    int[] closeAll(Lease lease, List<Integer> ids) {
        return (int[]) invoke("closeAll", lease, ids);
    }

    /** Makes the object, as JDBI's own factory for such classes does. */
    static final class Factory implements ExtensionFactory {

        @Override
        public boolean accepts(Class<?> type) {
            return type == AbstractInvoices.class;
        }

        @Override
        public java.util.Set<FactoryFlag> getFactoryFlags() {
            return java.util.EnumSet.of(FactoryFlag.DONT_USE_PROXY);
        }

        @Override
        public <E> E attach(Class<E> type, HandleSupplier handles) {
            ConfigRegistry config = handles.getConfig();
            ExtensionMetadata metadata = config.get(Extensions.class).findMetadata(type, this);
            return type.cast(new AbstractInvoicesImpl(metadata, handles, metadata.createInstanceConfiguration(config)));
        }
    }
}
