package io.ringfence.fencing.jdbi;

import java.lang.reflect.Method;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The parameters of one statement as JDBI has bound them, so that they can be bound again elsewhere. */
final class RecordedParameters {
    private final @Nullable Setter[] setters;

    RecordedParameters(int count) {
        setters = new Setter[count];
    }

    private RecordedParameters(@Nullable Setter[] setters) {
        this.setters = setters;
    }

    RecordedParameters copy() {
        return new RecordedParameters(setters.clone());
    }

    int count() {
        return setters.length;
    }

    /** Remembers a call like {@code setString(2, "x")}. */
    void record(Method method, @Nullable Object[] arguments) {
        setters[index(arguments)] = new Setter(method, arguments.clone());
    }

    static int index(@Nullable Object[] arguments) {
        return (Integer) Objects.requireNonNull(arguments[0]) - 1;
    }

    void bind(PreparedStatement prepared, int index, int parameter) throws SQLException {
        Setter setter = setters[parameter];
        if (setter != null) {
            setter.bind(prepared, index);
        }
    }

    /** Returns the values for messages. */
    @Nullable
    Object[] values() {
        @Nullable Object[] values = new Object[setters.length];
        for (int i = 0; i < values.length; i++) {
            Setter setter = setters[i];
            values[i] = setter == null ? null : setter.value();
        }
        return values;
    }

    private static final class Setter {
        private final Method method;
        private final @Nullable Object[] arguments;

        Setter(Method method, @Nullable Object[] arguments) {
            this.method = method;
            this.arguments = arguments;
        }

        @Nullable
        Object value() {
            return method.getName().equals("setNull") ? null : arguments[1];
        }

        void bind(PreparedStatement prepared, int index) throws SQLException {
            @Nullable Object[] given = arguments.clone();
            given[0] = index;
            Jdbc.call(method, prepared, given);
        }
    }
}
