package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import java.lang.reflect.Type;
import java.util.Optional;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.argument.ArgumentFactory;
import org.jdbi.v3.core.config.ConfigRegistry;
import org.jspecify.annotations.Nullable;

/** Binds a lease or a token as its number; a lease that is lost refuses. */
final class TokenArguments implements ArgumentFactory {

    @Override
    public Optional<Argument> build(Type type, @Nullable Object value, ConfigRegistry config) {
        return value instanceof FencingTokenSource source
                ? Optional.of((position, statement, context) ->
                        statement.setLong(position, source.requireToken().value()))
                : Optional.empty();
    }
}
