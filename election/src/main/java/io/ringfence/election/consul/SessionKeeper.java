package io.ringfence.election.consul;

import io.ringfence.election.LossReason;
import io.ringfence.election.internal.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Makes, renews and ends the one session that all leases share. Guarded by the machine's lock.
 *
 * <p>A session is one {@link Generation}. It dies in one step, with all its leases, when its deadline passes or Consul says
 * it is gone; it is never renewed or used again, and its {@link Leftovers} are removed in the background. Its deadline is
 * the earlier one of what the last renewal gave and, with failure detection, what the last heartbeat of its {@link Heart}
 * gave. Both count from the moment a request was handed over for sending, which is never later than when it was sent.
 */
final class SessionKeeper {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final ElectionMachine machine;
    private final Leftovers leftovers;
    private final Backoff createPause;
    private final Backoff renewPause;

    private @Nullable Generation current;
    private long lastNumber;
    private @Nullable Moment createSentAt;
    private @Nullable String createdCheck;
    private @Nullable Moment createNotBefore;
    private final Set<Slot> waitingForFreshness = new LinkedHashSet<>();

    SessionKeeper(ElectionMachine machine) {
        this.machine = machine;
        this.leftovers = new Leftovers(machine);
        this.createPause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
        this.renewPause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
    }

    @Nullable
    Generation current() {
        return current;
    }

    boolean isCreating() {
        return createSentAt != null;
    }

    boolean isOurs(KeyState state) {
        return current != null && current.session.equals(state.session());
    }

    boolean isCurrent(ConsulRequest request) {
        long number = -1;
        if (request instanceof ConsulRequest.Lock lock) {
            number = lock.generation();
        } else if (request instanceof ConsulRequest.Unlock unlock) {
            number = unlock.generation();
        } else if (request instanceof ConsulRequest.UnlockAll unlockAll) {
            number = unlockAll.generation();
        }
        return current != null && current.number == number;
    }

    /** Asks for a session unless there is one or one is on its way. */
    void ensure() {
        if (current == null && createSentAt == null && createNotBefore == null && !machine.isClosing()) {
            createSentAt = machine.now();
            lastNumber++;
            FailureDetection detection = machine.settings.failureDetection();
            createdCheck = detection == null
                    ? null
                    : detection.service() + "-" + Long.toHexString(machine.random.nextLong()) + "-" + lastNumber;
            machine.outbox.send(new ConsulRequest.CreateSession(lastNumber, createdCheck));
        }
    }

    void onCreateAnswer(ConsulAnswer answer) {
        Moment sentAt = Objects.requireNonNull(createSentAt);
        createSentAt = null;
        Moment now = machine.now();
        if (answer instanceof ConsulAnswer.SessionCreated created) {
            createPause.reset();
            Generation generation = new Generation(
                    lastNumber,
                    created.session(),
                    newHeart(sentAt),
                    sentAt,
                    sentAt.plus(machine.settings.term()),
                    sentAt.plus(renewPeriod()));
            if (machine.isClosing() || generation.deadline.isReachedAt(now)) {
                leftovers.destroy(generation.session, generation.check());
            } else {
                current = generation;
            }
        } else {
            createNotBefore = now.plus(createPause.next());
            if (answer instanceof ConsulAnswer.Failed) {
                machine.forEachSlot(slot -> slot.failImpatient(answer));
            } else {
                machine.forEachSlot(slot -> slot.fail(() -> machine.failure(answer)));
            }
        }
        leftovers.onCreateAnswer();
        machine.forEachSlot(Slot::step);
    }

    private @Nullable Heart newHeart(Moment registeredAt) {
        FailureDetection detection = machine.settings.failureDetection();
        return detection == null || createdCheck == null
                ? null
                : new Heart(machine, detection, lastNumber, createdCheck, registeredAt);
    }

    /** Renews at once, to learn whether the session lives. */
    void renewNow() {
        Generation generation = current;
        if (generation != null) {
            generation.renewAtOnce = true;
            machine.outbox.wake();
        }
    }

    /** Whether enough of each term is left to grant a lease; if not, renews it, and steps the slot afterwards. */
    boolean isFreshEnoughFor(Slot slot, Generation generation, Moment now) {
        boolean renewed = generation.renewedUntil.nanosFrom(now)
                >= machine.settings.freshEnough().toNanos();
        if (!renewed) {
            renewNow();
        }
        Heart heart = generation.heart;
        boolean beaten = heart == null || heart.isFreshEnough(now);
        if (heart != null && !beaten) {
            heart.beatNow();
        }
        if (renewed && beaten) {
            return true;
        }
        waitingForFreshness.add(slot);
        return false;
    }

    /** The slot's key is not ours any more: the next renewal tells whether the session is gone too. */
    void askRenewal(Slot slot) {
        if (current != null) {
            current.doubtful.add(slot);
            renewNow();
        }
    }

    void onRenewAnswer(ConsulRequest.RenewSession request, ConsulAnswer answer) {
        Generation generation = current;
        if (generation == null || generation.number != request.generation()) {
            return;
        }
        generation.renewInFlight = false;
        Moment now = machine.now();
        if (expireIfDue(now)) {
            return;
        }
        if (answer instanceof ConsulAnswer.SessionGone) {
            die(generation, LossReason.SESSION_EXPIRED);
            return;
        }
        generation.denied = answer instanceof ConsulAnswer.Denied;
        if (answer instanceof ConsulAnswer.Done) {
            renewPause.reset();
            generation.extend(generation.renewSentAt.plus(machine.settings.term()), now);
            generation.renewAt = generation.renewSentAt.plus(renewPeriod());
        } else {
            generation.renewAt = now.plus(renewPause.next());
            failThoseWaitingForFreshness(answer);
        }
        Set<Slot> asked = generation.askedByRenewal;
        generation.askedByRenewal = new LinkedHashSet<>();
        asked.forEach(
                Slot::loseDoubtful); // also where the renewal failed: their keys are not ours, whatever the reason
        if (answer instanceof ConsulAnswer.Done) {
            stepThoseWaitingForFreshness();
        }
    }

    void onHeartbeatAnswer(ConsulRequest.Heartbeat request, ConsulAnswer answer) {
        Generation generation = current;
        Heart heart = generation == null ? null : generation.heart;
        if (generation == null || heart == null || generation.number != request.generation()) {
            return;
        }
        Moment now = machine.now();
        if (expireIfDue(now)) {
            return;
        }
        if (heart.onAnswer(answer)) {
            machine.events.heartbeatFailed(machine.failure(answer));
            renewNow(); // the agent may have forgotten the check, and the session have gone with it
        }
        if (answer instanceof ConsulAnswer.Done) {
            generation.extend(generation.renewedUntil, now);
            stepThoseWaitingForFreshness();
        } else {
            failThoseWaitingForFreshness(answer);
        }
    }

    private void stepThoseWaitingForFreshness() {
        List<Slot> fresh = new ArrayList<>(waitingForFreshness);
        waitingForFreshness.clear();
        fresh.forEach(Slot::step);
    }

    private void failThoseWaitingForFreshness(ConsulAnswer answer) {
        for (Slot slot : List.copyOf(waitingForFreshness)) {
            slot.failImpatient(answer);
            if (!slot.isWaitedFor()) {
                waitingForFreshness.remove(slot);
                slot.step(); // gives back what was locked
            }
        }
    }

    /** Declares the loss if the deadline has passed; true if there is no session now. */
    boolean expireIfDue(Moment now) {
        Generation generation = current;
        if (generation != null && generation.deadline.isReachedAt(now)) {
            die(generation, generation.isDenied() ? LossReason.ACCESS_DENIED : LossReason.DEADLINE_EXCEEDED);
        }
        return current == null;
    }

    private void die(Generation generation, LossReason reason) {
        generation.dead = true;
        current = null;
        waitingForFreshness.clear();
        renewPause.reset();
        for (ConsulLease lease : List.copyOf(generation.leases)) {
            lease.slot.lose(reason);
        }
        if (reason == LossReason.SESSION_EXPIRED) {
            leftovers.deregister(generation.check());
        } else {
            leftovers.destroy(generation.session, generation.check());
        }
        machine.forEachSlot(Slot::onGenerationDied);
    }

    /** Destroys whatever session there is; the future completes when Consul has confirmed it. */
    CompletableFuture<Void> destroyAll() {
        CompletableFuture<Void> destroyed = new CompletableFuture<>();
        if (current != null) {
            Generation generation = current;
            generation.dead = true;
            current = null;
            leftovers.destroy(generation.session, generation.check());
        }
        leftovers.whenGone(destroyed);
        return destroyed;
    }

    Leftovers leftovers() {
        return leftovers;
    }

    void tick(Moment now) {
        if (createNotBefore != null && createNotBefore.isReachedAt(now)) {
            createNotBefore = null;
            machine.forEachSlot(Slot::step);
        }
        if (!expireIfDue(now)) {
            Generation generation = Objects.requireNonNull(current);
            if (!generation.renewInFlight && (generation.renewAtOnce || generation.renewAt.isReachedAt(now))) {
                renew(generation, now);
            }
            if (generation.heart != null) {
                generation.heart.tick(now);
            }
        }
        leftovers.tick(now);
    }

    private void renew(Generation generation, Moment now) {
        generation.renewAtOnce = false;
        generation.renewInFlight = true;
        generation.renewSentAt = now;
        generation.askedByRenewal.addAll(generation.doubtful);
        generation.doubtful.clear();
        machine.outbox.send(new ConsulRequest.RenewSession(generation.number, generation.session));
    }

    Moment nextTick(Moment now, Moment latest) {
        Moment next = leftovers.nextTick(now, latest);
        if (createNotBefore != null) {
            next = Moment.earlier(next, createNotBefore, now);
        }
        if (current != null) {
            next = Moment.earlier(next, current.deadline, now);
            if (!current.renewInFlight) {
                next = current.renewAtOnce ? now : Moment.earlier(next, current.renewAt, now);
            }
            if (current.heart != null) {
                next = current.heart.nextTick(now, next);
            }
        }
        return next;
    }

    /** A third of the ttl, shortened a little at random so that many processes do not renew in step. */
    private Duration renewPeriod() {
        long nanos = machine.settings.renewInterval().toNanos();
        return Duration.ofNanos(nanos - machine.random.nextLong(nanos / 10 + 1));
    }
}
