package io.ringfence.election.internal;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Growing pauses with jitter: each is between half and the whole of a step that doubles up to a maximum. Not thread-safe.
 */
public final class Backoff {
    private final long firstNanos;
    private final long mostNanos;
    private final RandomGenerator random;
    private long stepNanos;

    /**
     * Creates a backoff that stands at its first step.
     *
     * @param first the first step
     * @param most the longest step
     * @param random where the jitter comes from
     */
    public Backoff(Duration first, Duration most, RandomGenerator random) {
        this.firstNanos = first.toNanos();
        this.mostNanos = most.toNanos();
        this.random = random;
        this.stepNanos = firstNanos;
    }

    /** {@return the next pause} */
    public Duration next() {
        Duration pause = Duration.ofNanos(stepNanos / 2 + random.nextLong(stepNanos / 2 + 1));
        stepNanos = Math.min(stepNanos * 2, mostNanos);
        return pause;
    }

    /** Goes back to the first step. */
    public void reset() {
        stepNanos = firstNanos;
    }
}
