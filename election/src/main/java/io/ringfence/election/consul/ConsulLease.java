package io.ringfence.election.consul;

import io.ringfence.election.FencingToken;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.TermLease;
import io.ringfence.election.internal.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease whose two deadlines are compared with the clock whenever it is asked. Whoever sees one passed declares the loss,
 * under the machine's lock; extending a deadline happens under the same lock, so a passed deadline is never extended.
 */
final class ConsulLease implements TermLease {
    private final ElectionMachine machine;
    final Slot slot;
    final Generation generation;
    private final FencingToken token;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

    private volatile @Nullable LossReason loss;
    private volatile Moment confirmBy;

    /** The key's state as last seen, which guards the unlock. Guarded by the machine's lock. */
    private KeyState guard;

    /** Whom to tell of a loss, and that the key is to stay locked then. Guarded by the machine's lock. */
    private @Nullable Consumer<LossReason> retainer;

    /**
     * Completes once Consul is known not to hold the key for this lease any more; null until a release is asked for. Guarded
     * by the machine's lock.
     */
    @Nullable
    CompletableFuture<Void> released;

    ConsulLease(
            ElectionMachine machine,
            Slot slot,
            Generation generation,
            FencingToken token,
            KeyState locked,
            Moment now) {
        this.machine = machine;
        this.slot = slot;
        this.generation = generation;
        this.token = token;
        this.guard = locked;
        this.confirmBy = now.plus(machine.settings.unconfirmedLimit());
    }

    @Override
    public String election() {
        return slot.name();
    }

    @Override
    public FencingToken fencingToken() {
        return token;
    }

    @Override
    public FencingToken requireToken() {
        LossReason reason = lossNow();
        if (reason != null) {
            throw new LeaseLostException(slot.name(), token, reason);
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return lossNow() == null;
    }

    @Override
    public Optional<LossReason> lossReason() {
        return Optional.ofNullable(lossNow());
    }

    @Override
    public Duration remaining() {
        if (lossNow() != null) {
            return Duration.ZERO;
        }
        Moment now = machine.now();
        long nanos = Math.min(generation.deadline.nanosFrom(now), confirmBy.nanosFrom(now));
        return Duration.ofNanos(Math.max(nanos, 0));
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost.minimalCompletionStage();
    }

    @Override
    public String holder() {
        return machine.settings.holder();
    }

    @Override
    public Confirmation confirm() {
        if (lossNow() != null) {
            return Confirmation.LOST;
        }
        ConsulAnswer answer = Answers.await(machine.outbox.read(slot.key()), machine.settings);
        if (lossNow() != null) {
            return Confirmation.LOST;
        }
        if (answer instanceof ConsulAnswer.KeyRead read) {
            if (generation.session.equals(read.state().session())) {
                return Confirmation.CONFIRMED;
            }
            machine.suspect(this);
        }
        return Confirmation.UNKNOWN;
    }

    @Override
    public void close() {
        Waiting.quietly(machine.release(this), machine.settings.closeLimit());
    }

    @Override
    public void retain(Consumer<LossReason> onLoss) {
        machine.retain(this, onLoss);
    }

    @Override
    public void end(LossReason reason) {
        machine.end(this, reason);
    }

    @Override
    public void release() {
        CompletableFuture<Void> unused = machine.release(this);
    }

    private @Nullable LossReason lossNow() {
        LossReason known = loss;
        if (known == null && isExpiredAt(machine.now())) {
            machine.expire(this);
            return loss;
        }
        return known;
    }

    boolean isExpiredAt(Moment now) {
        return generation.deadline.isReachedAt(now) || confirmBy.isReachedAt(now);
    }

    Moment confirmBy() {
        return confirmBy;
    }

    boolean isUnconfirmedAt(Moment now) {
        return confirmBy.isReachedAt(now);
    }

    KeyState guard() {
        return guard;
    }

    /** The key was seen locked by our session at that moment. */
    void confirmed(KeyState state, Moment at) {
        guard = state;
        if (!confirmBy.isReachedAt(machine.now())) {
            confirmBy = at.plus(machine.settings.unconfirmedLimit());
        }
    }

    void retain(Consumer<LossReason> onLoss, Optional<LossReason> lossBefore) {
        retainer = onLoss;
        lossBefore.ifPresent(onLoss);
    }

    boolean isRetained() {
        return retainer != null;
    }

    void tellRetainer(LossReason reason) {
        if (retainer != null) {
            retainer.accept(reason);
        }
    }

    void markLost(LossReason reason) {
        if (loss == null) {
            loss = reason;
        }
    }

    boolean isMarkedLost() {
        return loss != null;
    }

    /** Completes {@link #lost()}; runs its dependent actions, so never under a lock. */
    void signalLoss(LossReason reason) {
        lost.complete(reason);
    }

    @Override
    public String toString() {
        LossReason reason = lossNow();
        return "Lease[election=" + slot.name() + ", token=" + token + ", " + (reason == null ? "held" : reason) + "]";
    }
}
