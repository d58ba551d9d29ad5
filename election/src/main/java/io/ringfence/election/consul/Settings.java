package io.ringfence.election.consul;

import java.time.Duration;

/** The checked configuration of one {@link ConsulElections}. */
record Settings(
        String address,
        String keyPrefix,
        String holder,
        int epoch,
        Duration sessionTtl,
        Duration margin,
        Duration lockDelay,
        Duration requestTimeout,
        Duration watchWait) {

    /** How much later than the wait a healthy watch may answer. */
    private static final Duration WATCH_GRACE = Duration.ofSeconds(5);

    /** How long a session counts after a renewal was sent. */
    Duration term() {
        return sessionTtl.minus(margin);
    }

    Duration renewInterval() {
        return sessionTtl.dividedBy(3);
    }

    /** How long a watch may be silent before held keys are read one by one. */
    Duration watchSilence() {
        return watchWait.plus(WATCH_GRACE);
    }

    /** How long a lease lives without any sign that its key is still ours. */
    Duration unconfirmedLimit() {
        return term().plus(watchSilence());
    }

    /** How long a caller waits for a release; it goes on in the background after that. */
    Duration closeLimit() {
        return requestTimeout.multipliedBy(2);
    }

    /** The least that must be left of a term when a lease is granted. */
    Duration freshEnough() {
        return term().dividedBy(2);
    }
}
