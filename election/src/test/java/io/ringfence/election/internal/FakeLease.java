package io.ringfence.election.internal;

import io.ringfence.election.FencingToken;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.NullMarked;

/** A lease that is lost when the test says so, and writes down what becomes of it. */
@NullMarked
final class FakeLease implements TermLease {
    private final FencingToken token;
    private final Queue<String> events;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final AtomicBoolean unlocked = new AtomicBoolean();

    FakeLease(long token, Queue<String> events) {
        this.token = new FencingToken(token);
        this.events = events;
        events.add("acquired " + token);
    }

    @Override
    public void retain(Consumer<LossReason> onLoss) {
        CompletableFuture<Void> unused = lost.thenAccept(onLoss);
    }

    @Override
    public void end(LossReason reason) {
        if (!lost.isDone()) {
            events.add("lost " + token + " " + reason);
            lost.complete(reason);
        }
    }

    @Override
    public void release() {
        end(LossReason.RELEASED);
        if (unlocked.compareAndSet(false, true)) {
            events.add("unlocked " + token);
        }
    }

    @Override
    public void close() {
        if (Thread.currentThread().isInterrupted()) {
            events.add("did not wait for the unlock");
        }
        release();
    }

    boolean isUnlocked() {
        return unlocked.get();
    }

    @Override
    public String election() {
        return "job";
    }

    @Override
    public FencingToken fencingToken() {
        return token;
    }

    @Override
    public FencingToken requireToken() {
        if (!isHeld()) {
            throw new LeaseLostException(election(), token, Objects.requireNonNull(lost.getNow(null)));
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return !lost.isDone();
    }

    @Override
    public Duration remaining() {
        return isHeld() ? Duration.ofSeconds(8) : Duration.ZERO;
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
        return "me";
    }

    @Override
    public Confirmation confirm() {
        return isHeld() ? Confirmation.CONFIRMED : Confirmation.LOST;
    }
}
