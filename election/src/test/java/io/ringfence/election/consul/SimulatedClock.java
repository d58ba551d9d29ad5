package io.ringfence.election.consul;

import java.util.SplittableRandom;

/** The two clocks of one process, which may be slow or fast; the wall clock steps, and a suspend stops the monotonic one. */
final class SimulatedClock {
    /** With a margin of a fifth of the ttl a clock may run at four fifths of Consul's. */
    static final double SLOWEST = 0.81;

    private static final double FASTEST = 1.25;
    private static final long WALL = 1_700_000_000_000L;

    private final double rate;
    private final long nanosAtStart;
    private long wallStep;
    private long suspendedFrom = Long.MAX_VALUE;
    private long suspendedUntil;
    private long suspendedBefore;
    private long cachedFor = -1;
    private Moment cached = new Moment(0, 0);

    /** True if the wall clock of this process is set back at times; false if the process is suspended at times. */
    final boolean isSetBack;

    SimulatedClock(SplittableRandom random, boolean faulty, boolean slow) {
        double any = SLOWEST + random.nextDouble() * (FASTEST - SLOWEST);
        this.rate = faulty ? (slow ? SLOWEST : any) : 1;
        this.isSetBack = faulty && random.nextBoolean();
        this.nanosAtStart = random.nextBoolean() ? Long.MAX_VALUE - 20 * SimulatedTime.SECOND : random.nextLong();
    }

    boolean drifts() {
        return rate < 1 || rate > 1;
    }

    Moment at(long now) {
        if (now != cachedFor) {
            if (now >= suspendedUntil && suspendedFrom != Long.MAX_VALUE) {
                suspendedBefore += suspendedUntil - suspendedFrom;
                suspendedFrom = Long.MAX_VALUE;
            }
            long ran = Math.min(now, suspendedFrom) - suspendedBefore;
            cached = new Moment(nanosAtStart + scaled(ran), WALL + wallStep + scaled(now) / SimulatedTime.MILLI);
            cachedFor = now;
        }
        return cached;
    }

    private long scaled(long nanos) {
        return drifts() ? (long) (nanos * rate) : nanos;
    }

    /** How long it takes until this clock has moved on by so many nanoseconds. */
    long took(long nanos) {
        return drifts() ? (long) Math.ceil(nanos / rate) : nanos;
    }

    void stepWall(long millis) {
        wallStep += millis;
        cachedFor = -1;
    }

    void suspend(long now, long nanos) {
        suspendedFrom = now;
        suspendedUntil = now + nanos;
        cachedFor = -1;
    }
}
