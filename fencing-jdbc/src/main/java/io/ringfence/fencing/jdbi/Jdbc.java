package io.ringfence.fencing.jdbi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Calls of JDBC by reflection. */
final class Jdbc {

    private Jdbc() {}

    /** Makes a call; what it throws arrives as it is. */
    static @Nullable Object call(Method method, Object target, @Nullable Object @Nullable [] arguments)
            throws SQLException {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            if (cause instanceof SQLException refused) {
                throw refused;
            }
            if (cause instanceof RuntimeException misuse) {
                throw misuse;
            }
            if (cause instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
