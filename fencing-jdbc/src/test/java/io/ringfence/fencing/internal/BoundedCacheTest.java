package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoundedCacheTest {
    private final List<String> computed = new ArrayList<>();
    private final BoundedCache<String, Integer> cache = new BoundedCache<>(2, key -> {
        computed.add(key);
        return Integer.valueOf(key);
    });

    @Test
    void remembersUpToItsCapacity_andThenStartsAnew() {
        assertThat(cache.get("1")).isEqualTo(1);
        cache.get("2");
        cache.get("1");
        cache.get("2");
        cache.get("3");
        cache.get("3");
        cache.get("1");

        assertThat(computed).containsExactly("1", "2", "3", "1");
    }

    @Test
    void doesNotRememberAFailure() {
        assertThatThrownBy(() -> cache.get("x")).isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> cache.get("x")).isInstanceOf(NumberFormatException.class);

        assertThat(computed).containsExactly("x", "x");
    }
}
