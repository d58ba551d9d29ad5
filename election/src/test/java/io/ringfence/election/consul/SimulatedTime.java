package io.ringfence.election.consul;

import java.util.PriorityQueue;

/** Simulated time: what is to happen, in order; what is to happen at the same time, in the order it was asked for. */
final class SimulatedTime {
    static final long MILLI = 1_000_000;
    static final long SECOND = 1_000 * MILLI;
    private static final int MOST_EVENTS = 100_000;

    private record Event(long when, int number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(when, other.when);
            return byTime == 0 ? Integer.compare(number, other.number) : byTime;
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>(256);
    private long now;
    private int asked;

    long now() {
        return now;
    }

    /** Does the action after so many nanoseconds. */
    void after(long nanos, Runnable action) {
        if (asked++ > MOST_EVENTS) {
            throw new IllegalStateException("too many events");
        }
        events.add(new Event(now + Math.max(nanos, 0), asked, action));
    }

    /** How much was done or is still to be done. */
    int count() {
        return asked;
    }

    void runUntil(long end) {
        for (Event next = events.peek(); next != null && next.when() <= end; next = events.peek()) {
            events.remove();
            now = next.when();
            next.action().run();
        }
        now = end;
    }
}
