package io.ringfence.election.consul;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One session of ours and all that hangs on it; when it dies, all of it dies. Guarded by the machine's lock, but for the
 * deadline, which {@link ConsulLease#isHeld()} reads without.
 */
final class Generation {
    final long number;
    final String session;
    final Set<ConsulLease> leases = new LinkedHashSet<>();

    final @Nullable Heart heart;

    volatile Moment deadline;
    boolean dead;

    Moment renewedUntil;
    Moment renewAt;
    Moment renewSentAt;
    boolean renewInFlight;
    boolean renewAtOnce;
    boolean denied;

    /** Slots whose key is gone, and that ask the next renewal whether the session is gone too. */
    Set<Slot> doubtful = new LinkedHashSet<>();

    Set<Slot> askedByRenewal = new LinkedHashSet<>();

    Generation(long number, String session, @Nullable Heart heart, Moment sentAt, Moment renewedUntil, Moment renewAt) {
        this.number = number;
        this.session = session;
        this.heart = heart;
        this.renewSentAt = sentAt;
        this.renewedUntil = renewedUntil;
        this.deadline = earliest(renewedUntil, heart, sentAt);
        this.renewAt = renewAt;
    }

    /** The id of the health check that the session is bound to. */
    @Nullable
    String check() {
        return heart == null ? null : heart.check;
    }

    boolean isDenied() {
        return denied || (heart != null && heart.isDenied());
    }

    /** Moves the deadline, which has not passed, to the earlier one of this moment and the heart's. */
    void extend(Moment until, Moment now) {
        renewedUntil = until;
        deadline = earliest(until, heart, now);
    }

    private static Moment earliest(Moment renewedUntil, @Nullable Heart heart, Moment now) {
        return heart == null ? renewedUntil : Moment.earlier(renewedUntil, heart.deadline(), now);
    }
}
