package io.ringfence.fencing.jdbi;

import java.lang.reflect.Method;

/** How methods are called in messages. */
final class Names {

    private Names() {}

    static String of(Class<?> type, Method method) {
        return type.getSimpleName() + "." + method.getName();
    }
}
