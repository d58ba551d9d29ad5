package io.ringfence.fencing.internal;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Remembers the most recently used results of a function. What throws is not remembered. Thread-safe; the function runs
 * outside of the lock, and so perhaps twice.
 *
 * @param <K> the argument
 * @param <V> the result
 */
public final class BoundedCache<K, V> {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<K, V> entries;
    private final Function<K, V> function;

    /**
     * Creates an empty cache.
     *
     * @param capacity how many results to keep
     * @param function what to remember the results of
     */
    public BoundedCache(int capacity, Function<K, V> function) {
        this.function = function;
        this.entries = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > capacity;
            }
        };
    }

    /**
     * Returns the result for an argument, remembered or new.
     *
     * @param key the argument
     * @return the result
     */
    public V get(K key) {
        lock.lock();
        try {
            V known = entries.get(key);
            if (known != null) {
                return known;
            }
        } finally {
            lock.unlock();
        }
        V result = function.apply(key);
        lock.lock();
        try {
            entries.put(key, result);
        } finally {
            lock.unlock();
        }
        return result;
    }
}
