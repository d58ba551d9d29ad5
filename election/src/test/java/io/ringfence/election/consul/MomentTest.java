package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MomentTest {
    private static final Duration TERM = Duration.ofSeconds(8);

    @Test
    void isReached_whenTheMonotonicClockHasWrapped() {
        Moment deadline = new Moment(Long.MAX_VALUE - 10, 1_000).plus(Duration.ofNanos(20));
        assertThat(deadline.isReachedAt(new Moment(Long.MAX_VALUE, 1_000))).isFalse();
        assertThat(deadline.isReachedAt(new Moment(Long.MIN_VALUE + 9, 1_000))).isTrue();
    }

    @Test
    void isReached_whenEitherClockSaysSo() {
        Moment deadline = new Moment(0, 0).plus(TERM);
        assertThat(deadline.isReachedAt(new Moment(TERM.toNanos() - 1, TERM.toMillis())))
                .isFalse();
        assertThat(deadline.isReachedAt(new Moment(TERM.toNanos(), 0))).isTrue();
        assertThat(deadline.isReachedAt(new Moment(0, TERM.toMillis() + 1))).isTrue();
        assertThat(deadline.isReachedAt(new Moment(0, Long.MIN_VALUE / 2))).isFalse();
    }

    @Test
    void isReachedExactlyWhenNoTimeIsLeft() {
        Moment deadline = new Moment(0, 0).plus(TERM);
        for (long wall = 7_990; wall < 8_010; wall++) {
            for (long nanos = -2; nanos < 3; nanos++) {
                Moment now = new Moment(TERM.toNanos() + nanos, wall);
                assertThat(deadline.nanosFrom(now) <= 0).isEqualTo(deadline.isReachedAt(now));
            }
        }
    }
}
