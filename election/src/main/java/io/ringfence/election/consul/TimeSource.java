package io.ringfence.election.consul;

/** The clocks; tests put in their own. */
@FunctionalInterface
interface TimeSource {
    TimeSource SYSTEM = () -> new Moment(System.nanoTime(), System.currentTimeMillis());

    Moment now();
}
