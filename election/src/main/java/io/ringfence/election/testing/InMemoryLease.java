package io.ringfence.election.testing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.TermLease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease of one process. Only {@link World#pass} moves the clock, and it marks what is lost on the way, so nothing here has
 * to look at the clock.
 */
final class InMemoryLease implements TermLease {
    private final InMemoryProcess process;
    private final String election;
    private final FencingToken token;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private volatile @Nullable LossReason loss;

    /** Whom to tell of a loss, and that the key is to stay locked then. Guarded by the world's lock. */
    private @Nullable Consumer<LossReason> retainer;

    /** Whether the loss has been told: a paused process is told later than the lease is lost. Guarded by the world's lock. */
    private boolean told;

    /** What happened to the key at the lock service, which its process may not know yet. Guarded by the world's lock. */
    @Nullable
    LossReason takenAway;

    InMemoryLease(InMemoryProcess process, String election, FencingToken token) {
        this.process = process;
        this.election = election;
        this.token = token;
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
        LossReason reason = loss;
        if (reason != null) {
            throw new LeaseLostException(election, token, reason);
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return loss == null;
    }

    @Override
    public Duration remaining() {
        return process.world.ask(() -> Duration.ofNanos(isLost() ? 0 : process.connection.nanosLeft()));
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost.minimalCompletionStage();
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.ofNullable(loss);
    }

    @Override
    public String holder() {
        return process.holder;
    }

    @Override
    public Confirmation confirm() {
        return process.world.ask(() -> {
            if (isLost()) {
                return Confirmation.LOST;
            }
            boolean answered =
                    !process.connection.isCutOff() && !Thread.currentThread().isInterrupted();
            return answered ? Confirmation.CONFIRMED : Confirmation.UNKNOWN;
        });
    }

    @Override
    public void close() {
        release();
    }

    @Override
    public void release() {
        process.world.change(() -> process.release(this));
    }

    @Override
    public void end(LossReason reason) {
        process.world.change(() -> process.end(this, reason));
    }

    @Override
    public void retain(Consumer<LossReason> onLoss) {
        process.world.change(() -> {
            retainer = onLoss;
            LossReason before = loss;
            if (told && before != null) {
                onLoss.accept(before);
            }
        });
    }

    // Under the world's lock.

    boolean isRetained() {
        return retainer != null;
    }

    void tellRetainer(LossReason reason) {
        told = true;
        if (retainer != null) {
            retainer.accept(reason);
        }
    }

    boolean isLost() {
        return loss != null;
    }

    void markLost(LossReason reason) {
        loss = reason;
    }

    /** Completes {@link #lost()}; runs its dependent actions, so never under a lock. */
    void signalLoss(LossReason reason) {
        lost.complete(reason);
    }

    @Override
    public String toString() {
        LossReason reason = loss;
        return "Lease[election=" + election + ", token=" + token + ", " + (reason == null ? "held" : reason) + "]";
    }
}
