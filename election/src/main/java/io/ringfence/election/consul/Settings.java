package io.ringfence.election.consul;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The checked configuration of one {@link ConsulElections}. */
record Settings(
        List<String> addresses,
        @Nullable String datacenter,
        String keyPrefix,
        String holder,
        int epoch,
        Duration sessionTtl,
        Duration margin,
        Duration lockDelay,
        Duration requestTimeout,
        Duration watchWait,
        boolean serfHealth,
        @Nullable FailureDetection failureDetection) {

    /** How much later than the wait a healthy watch may answer. */
    private static final Duration WATCH_GRACE = Duration.ofSeconds(5);

    /** Where Consul is, for messages. */
    String address() {
        return String.join(", ", addresses);
    }

    /** The same for an agent alone, so that messages name the one that answered. */
    Settings at(String address) {
        return new Settings(
                List.of(address),
                datacenter,
                keyPrefix,
                holder,
                epoch,
                sessionTtl,
                margin,
                lockDelay,
                requestTimeout,
                watchWait,
                serfHealth,
                failureDetection);
    }

    /** How long a request may take that no agent answers. */
    Duration requestLimit() {
        return requestTimeout.multipliedBy(addresses.size());
    }

    /** The most that a heartbeat may take. */
    Duration heartbeatTimeout(FailureDetection detection) {
        Duration fitting = detection.heartbeatTimeout();
        return fitting.compareTo(requestTimeout) < 0 ? fitting : requestTimeout;
    }

    /** One connection is kept for renewals, one for the watch, and one for heartbeats if there are any; of four. */
    int controlConnections() {
        return failureDetection == null ? 2 : 1;
    }

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
        return requestLimit().multipliedBy(2);
    }

    /** The least that must be left of a term when a lease is granted. */
    Duration freshEnough() {
        return term().dividedBy(2);
    }
}
