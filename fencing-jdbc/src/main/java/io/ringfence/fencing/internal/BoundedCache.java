package io.ringfence.fencing.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Remembers results of a function, and forgets all of them when there are too many: whoever has more distinct arguments
 * than that gains nothing from a cache, and the others never get there. What throws is not remembered. Thread-safe; the
 * function may run twice for one argument.
 *
 * @param <K> the argument
 * @param <V> the result
 */
public final class BoundedCache<K, V> {
    private final int capacity;
    private final Function<K, V> function;
    private final Map<K, V> results = new ConcurrentHashMap<>();

    /**
     * Creates an empty cache.
     *
     * @param capacity how many results to keep
     * @param function what to remember the results of
     */
    public BoundedCache(int capacity, Function<K, V> function) {
        this.capacity = capacity;
        this.function = function;
    }

    /**
     * Returns the result for an argument, remembered or new.
     *
     * @param key the argument
     * @return the result
     */
    public V get(K key) {
        V known = results.get(key);
        if (known != null) {
            return known;
        }
        V result = function.apply(key);
        if (results.size() >= capacity) {
            results.clear();
        }
        results.put(key, result);
        return result;
    }
}
