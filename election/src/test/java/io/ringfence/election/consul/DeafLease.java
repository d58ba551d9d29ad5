package io.ringfence.election.consul;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A lease as a careless leader takes it: held until it is given back, whatever is heard of a loss or of the deadline. */
final class DeafLease implements Lease {
    private final Lease lease;
    private volatile boolean closed;

    DeafLease(Lease lease) {
        this.lease = lease;
    }

    @Override
    public String election() {
        return lease.election();
    }

    @Override
    public FencingToken fencingToken() {
        return lease.fencingToken();
    }

    @Override
    public FencingToken requireToken() {
        return lease.fencingToken();
    }

    @Override
    public boolean isHeld() {
        return !closed;
    }

    @Override
    public Duration remaining() {
        return lease.remaining();
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return new CompletableFuture<>();
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.empty();
    }

    @Override
    public String holder() {
        return lease.holder();
    }

    @Override
    public Confirmation confirm() {
        return lease.confirm();
    }

    @Override
    public void close() {
        closed = true;
        lease.close();
    }

    @Override
    public String toString() {
        return "Deaf" + lease;
    }
}
