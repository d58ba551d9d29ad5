package io.ringfence.election.consul;

import java.time.Duration;

/**
 * A point in time on both clocks of this process. Time between two moments is the larger of what the monotonic clock and
 * the wall clock say, so a suspend that stops the monotonic clock counts, and a wall clock set back counts for nothing.
 *
 * @param nanos the monotonic clock; only differences mean anything
 * @param wallMillis the wall clock
 */
record Moment(long nanos, long wallMillis) {
    private static final long NANOS_PER_MILLI = 1_000_000;

    Moment plus(Duration duration) {
        return new Moment(nanos + duration.toNanos(), wallMillis + duration.toMillis());
    }

    boolean isReachedAt(Moment now) {
        return now.nanos - nanos >= 0 || now.wallMillis - wallMillis > 0;
    }

    /** Nanoseconds until this moment is reached; zero or less if it is. */
    long nanosFrom(Moment now) {
        long wall = wallMillis - now.wallMillis + 1;
        long wallNanos = wall > Long.MAX_VALUE / NANOS_PER_MILLI ? Long.MAX_VALUE : wall * NANOS_PER_MILLI;
        return Math.min(nanos - now.nanos, wallNanos);
    }

    static Moment earlier(Moment a, Moment b, Moment now) {
        return a.nanosFrom(now) <= b.nanosFrom(now) ? a : b;
    }
}
