package io.ringfence.election.consul;

import java.time.Duration;

/**
 * How Consul shall notice a dead process sooner than by the session's ttl: by a health check that turns critical when no
 * heartbeat came for a period, and takes the session with it.
 *
 * @param period how long Consul waits for a heartbeat
 * @param service the name of the service that the check belongs to
 */
record FailureDetection(Duration period, String service) {
    static final Duration SHORTEST = Duration.ofMillis(300);

    /** How long a lease counts after a heartbeat was sent: a fifth less than Consul waits. */
    Duration term() {
        return period.minus(interval());
    }

    /** How often a heartbeat is sent. */
    Duration interval() {
        return period.dividedBy(5);
    }

    /** The most that a heartbeat may take, so that two of them fit into what is left of a term when the first is due. */
    Duration heartbeatTimeout() {
        return term().minus(interval()).dividedBy(2);
    }
}
