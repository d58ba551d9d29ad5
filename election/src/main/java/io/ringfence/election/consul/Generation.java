package io.ringfence.election.consul;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One session of ours and all that hangs on it; when it dies, all of it dies. Guarded by the machine's lock, but for the
 * deadline, which {@link ConsulLease#isHeld()} reads without.
 */
final class Generation {
    final long number;
    final String session;
    final Set<ConsulLease> leases = new LinkedHashSet<>();

    volatile Moment deadline;
    boolean dead;

    Moment renewAt;
    Moment renewSentAt;
    boolean renewInFlight;
    boolean renewAtOnce;
    boolean denied;

    /** Slots whose key is gone, and that ask the next renewal whether the session is gone too. */
    Set<Slot> doubtful = new HashSet<>();

    Set<Slot> askedByRenewal = new HashSet<>();

    Generation(long number, String session, Moment sentAt, Moment deadline, Moment renewAt) {
        this.number = number;
        this.session = session;
        this.renewSentAt = sentAt;
        this.deadline = deadline;
        this.renewAt = renewAt;
    }
}
