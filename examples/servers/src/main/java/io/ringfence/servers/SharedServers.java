package io.ringfence.servers;

import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A JUnit extension that hands servers to tests: {@link ConsulServer}, {@link PostgresServer} and {@link MariaDbServer},
 * each started when it is first asked for and shared by all tests of the JVM, and {@link PostgresDatabase} and
 * {@link MariaDbDatabase}, a new one for each parameter.
 *
 * <pre>{@code
 * @ExtendWith(SharedServers.class)
 * class PaymentsIT {
 *     PaymentsIT(ConsulServer consul, PostgresDatabase database) { ... }
 * }
 * }</pre>
 *
 * <p>JUnit closes the servers after the last test. A server that does not start fails every test that asks for it, after
 * one attempt; no test is skipped. A test that kills, freezes or reconfigures a server must start its own.
 */
public final class SharedServers implements ParameterResolver {

    private static final Namespace NAMESPACE = Namespace.create(SharedServers.class);
    private static final Set<Class<?>> TYPES = Set.of(
            ConsulServer.class,
            PostgresServer.class,
            PostgresDatabase.class,
            MariaDbServer.class,
            MariaDbDatabase.class);

    /** Creates the extension; JUnit does this. */
    public SharedServers() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TYPES.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        if (type == ConsulServer.class) {
            return shared(context, ConsulServer.class, ConsulServer::start, ConsulServer::close);
        }
        if (type == MariaDbServer.class || type == MariaDbDatabase.class) {
            MariaDbServer mariaDb = shared(context, MariaDbServer.class, MariaDbServer::start, MariaDbServer::close);
            return type == MariaDbServer.class ? mariaDb : mariaDb.createDatabase();
        }
        PostgresServer postgres = shared(context, PostgresServer.class, PostgresServer::start, PostgresServer::close);
        return type == PostgresServer.class ? postgres : postgres.createDatabase();
    }

    private static <S> S shared(ExtensionContext context, Class<S> type, Supplier<S> start, Consumer<S> stop) {
        Shared shared = context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(type, key -> Shared.started(start, stop), Shared.class);
        return type.cast(shared.get());
    }

    /** A server, or why there is none: a failed start is not repeated for each test. */
    private record Shared(
            @Nullable Object server,
            Runnable stop,
            @Nullable RuntimeException failure) implements AutoCloseable {

        static <S> Shared started(Supplier<S> start, Consumer<S> stop) {
            try {
                S server = start.get();
                return new Shared(server, () -> stop.accept(server), null);
            } catch (RuntimeException e) {
                return new Shared(null, () -> {}, e);
            }
        }

        Object get() {
            if (server == null) {
                throw new IllegalStateException(failure == null ? "no server" : failure.getMessage(), failure);
            }
            return server;
        }

        @Override
        public void close() {
            stop.run();
        }
    }
}
