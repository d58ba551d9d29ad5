package io.ringfence.election.consul;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Growing pauses with jitter: each is between half and the whole of a step that doubles up to a maximum. */
final class Backoff {
    private final long firstNanos;
    private final long mostNanos;
    private final RandomGenerator random;
    private long stepNanos;

    Backoff(Duration first, Duration most, RandomGenerator random) {
        this.firstNanos = first.toNanos();
        this.mostNanos = most.toNanos();
        this.random = random;
        this.stepNanos = firstNanos;
    }

    Duration next() {
        Duration pause = Duration.ofNanos(stepNanos / 2 + random.nextLong(stepNanos / 2 + 1));
        stepNanos = Math.min(stepNanos * 2, mostNanos);
        return pause;
    }

    void reset() {
        stepNanos = firstNanos;
    }
}
