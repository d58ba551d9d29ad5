package io.ringfence.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencingTokenTest {

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void isAtLeastOne(long value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FencingToken(value))
                .withMessageContaining("not " + value);
    }

    @Test
    void ordersByNumber_andAnswersItself() {
        FencingToken low = new FencingToken(9);
        FencingToken high = new FencingToken(Long.MAX_VALUE);
        assertThat(low).isLessThan(high).hasToString("9");
        assertThat(low.requireToken()).isSameAs(low);
    }
}
