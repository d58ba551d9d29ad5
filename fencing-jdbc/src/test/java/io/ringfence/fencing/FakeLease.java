package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A lease that is held until the test says otherwise. */
public final class FakeLease implements Lease {
    private final String election;
    private final FencingToken token;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private volatile Confirmation confirmation = Confirmation.UNKNOWN;

    FakeLease(String election, long token) {
        this.election = election;
        this.token = new FencingToken(token);
    }

    public static FakeLease of(long token) {
        return new FakeLease("invoices", token);
    }

    public FakeLease confirming(Confirmation answer) {
        confirmation = answer;
        return this;
    }

    public void lose() {
        lost.complete(LossReason.DEADLINE_EXCEEDED);
    }

    /** Returns how many stages were asked for by {@link #lost()}. */
    int waitingForLoss() {
        return lost.getNumberOfDependents();
    }

    @Override
    public String election() {
        return election;
    }

    @Override
    public FencingToken fencingToken() {
        return token;
    }

    @Override
    public FencingToken requireToken() {
        if (lost.isDone()) {
            throw new LeaseLostException(election, token, lost.join());
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return !lost.isDone();
    }

    @Override
    public Duration remaining() {
        return isHeld() ? Duration.ofSeconds(10) : Duration.ZERO;
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost.minimalCompletionStage();
    }

    @Override
    public Optional<LossReason> lossReason() {
        return lost.isDone() ? Optional.of(lost.join()) : Optional.empty();
    }

    @Override
    public String holder() {
        return "process-" + token;
    }

    @Override
    public Confirmation confirm() {
        return isHeld() ? confirmation : Confirmation.LOST;
    }

    @Override
    public void close() {
        lost.complete(LossReason.RELEASED);
    }
}
