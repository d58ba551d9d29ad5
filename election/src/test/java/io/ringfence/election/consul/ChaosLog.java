package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What contenders and those who watch them have seen; what must not be is in {@link #faults()}. Thread-safe. */
final class ChaosLog {
    private final List<String> faults = new ArrayList<>();
    private final Map<LossReason, Integer> losses = new EnumMap<>(LossReason.class);
    private long highest;
    private int terms;
    private long looks;
    private long looksAtOne;

    /** The next contender gets here only after the one before has given back its lease, or long ago lost it. */
    synchronized void began(FencingToken token) {
        if (token.value() <= highest) {
            faults.add("token " + token + " after " + highest);
        }
        highest = token.value();
        terms++;
    }

    synchronized void ended(Optional<LossReason> loss) {
        loss.ifPresent(reason -> losses.merge(reason, 1, Integer::sum));
    }

    synchronized void failed(ElectionException failure) {
        faults.add("acquire, which waits through any outage, threw " + failure);
    }

    /** Leases that were held when they were looked at, one after the other in this order. */
    synchronized void looked(List<Lease> held) {
        looks++;
        looksAtOne += held.isEmpty() ? 0 : 1;
        for (Lease earlier : held.subList(0, Math.max(0, held.size() - 1))) {
            // a lease never comes back, so this one was held too when the last one was looked at
            if (earlier.isHeld()) {
                faults.add("two leases were held at once: " + held);
            }
        }
    }

    synchronized List<String> faults() {
        return List.copyOf(faults);
    }

    synchronized int terms() {
        return terms;
    }

    synchronized long looksAtOne() {
        return looksAtOne;
    }

    @Override
    public synchronized String toString() {
        return terms + " terms, losses " + losses + ", " + looks + " looks, " + looksAtOne + " of them at a held lease";
    }
}
