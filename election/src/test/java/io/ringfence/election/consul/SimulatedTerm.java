package io.ringfence.election.consul;

import io.ringfence.election.LossReason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One lease as its owner saw it. */
final class SimulatedTerm {
    final SimulatedProcess process;
    final ConsulLease lease;
    final String key;
    final long token;

    /** Its key stays locked after a loss until some work has ended. */
    boolean retained;

    boolean workEnded;

    /** When it was first seen lost, or negative. */
    long lostAt = -1;

    @Nullable
    LossReason reason;

    int acquiredHeard;
    int lostHeard;
    int signals;

    @Nullable
    CompletableFuture<Void> released;

    long releaseAskedAt;

    /** Since when its key has been seen in other hands, or never. */
    long keyGoneSince = Long.MAX_VALUE;

    SimulatedTerm(SimulatedProcess process, ConsulLease lease) {
        this.process = process;
        this.lease = lease;
        this.key = lease.slot.key();
        this.token = lease.fencingToken().value();
    }

    /** Whether it is lost, and its work has not ended yet. */
    boolean isWindingDown() {
        return retained && reason != null && !workEnded;
    }

    /** Whether nothing can come any more, if all is well. */
    boolean isOver() {
        return reason != null
                && acquiredHeard + lostHeard + signals == 3
                && (released == null ? !retained : released.isDone());
    }

    @Override
    public String toString() {
        return process + " " + key + " " + token + (reason == null ? "" : " " + reason);
    }
}
