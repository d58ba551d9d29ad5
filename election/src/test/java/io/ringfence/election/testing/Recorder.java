package io.ringfence.election.testing;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.Collection;

/** Writes down what it hears. */
record Recorder(String prefix, Collection<String> events) implements ElectionListener {
    @Override
    public void onAcquired(Lease lease) {
        events.add(prefix + "acquired " + lease.fencingToken());
    }

    @Override
    public void onLost(Lease lease, LossReason reason) {
        events.add(prefix + "lost " + lease.fencingToken() + " " + reason);
    }
}
