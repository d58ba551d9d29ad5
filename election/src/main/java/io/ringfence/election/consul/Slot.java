package io.ringfence.election.consul;

import io.ringfence.election.FencingToken;
import io.ringfence.election.LossReason;
import io.ringfence.election.consul.ConsulAnswer.Refusal;
import io.ringfence.election.internal.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One key of one process: who waits for it, what is known of it, and the lease if it is held.
 *
 * <p>There is no state variable with named states. {@link #step()} looks at the facts and sends the one request that they
 * ask for; each answer changes the facts and steps again. At most one request is under way, so an answer is never older
 * than the facts, and what must hold is easy to say:
 *
 * <ul>
 *   <li>{@code view == null}: the key's state is unknown. The next request is a consistent read, if anybody waits or an
 *       outcome {@link #mustSettle must be settled}.
 *   <li>the view says ours, no lease: either a lock that nobody got yet ({@link #grantable}), which is granted if somebody
 *       waits, or one that must not stay: unlock.
 *   <li>the view says free: lock it, guarded by the view. The view may be old; then the guard refuses.
 *   <li>a lease was lost whose work still runs ({@link #windingDown}): nothing, so that a key that is still ours stays locked
 *       until the work has ended.
 *   <li>the view says held: wait for the watch. What the watch reports while a request is under way is kept in
 *       {@link #unheard} and looked at again after the answer, for the answer may be older: no wake-up is lost.
 * </ul>
 *
 * Guarded by the machine's lock.
 */
final class Slot {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final ElectionMachine machine;
    private final String name;
    private final String key;
    private final Backoff failurePause;
    private final Backoff lockDelayPause;
    private final Tickets tickets = new Tickets();
    private final SeenTokens seenTokens;
    private final List<CompletableFuture<Void>> waitingForSettlement = new ArrayList<>();

    private @Nullable KeyState view;
    private boolean mustSettle;
    private boolean grantable;
    private boolean distrusted;
    private @Nullable KeyState unheard;
    private @Nullable ConsulRequest inFlight;
    private @Nullable Moment sentAt;
    private @Nullable Moment notBefore;
    private boolean inLockDelay;

    private @Nullable ConsulLease lease;
    private @Nullable ConsulLease windingDown;
    private boolean suspect;
    private @Nullable LossReason doubt;

    Slot(ElectionMachine machine, String name, String key) {
        this.machine = machine;
        this.name = name;
        this.key = key;
        this.seenTokens = new SeenTokens(name, machine.settings.epoch());
        this.failurePause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
        this.lockDelayPause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
    }

    String name() {
        return name;
    }

    String key() {
        return key;
    }

    boolean isWaitedFor() {
        return !tickets.isEmpty();
    }

    @Nullable
    Moment notBefore() {
        return notBefore;
    }

    void add(Ticket ticket) {
        if (lease != null) {
            ticket.refuseFor(lease);
            return;
        }
        tickets.add(ticket);
        if (isHeldByOthers(view)) {
            view = null; // the watch may be behind; a caller who gets a "no" deserves a fresh one
        }
        if (ticket.mode == Ticket.Mode.ONCE) {
            notBefore = null;
        }
        step();
    }

    void remove(Ticket ticket) {
        tickets.remove(ticket);
    }

    /** Sends the request that the facts ask for, if any. */
    void step() {
        tellSettled(); // before the next caller's request makes it unsettled again
        if (inFlight == null && notBefore == null) {
            if (lease != null) {
                stepHeld();
            } else {
                stepFree();
            }
        }
        tellSettled();
    }

    private void tellSettled() {
        if (isSettled()) {
            waitingForSettlement.forEach(waiting -> waiting.complete(null));
            waitingForSettlement.clear();
        }
    }

    private void stepHeld() {
        if (suspect && doubt == null) {
            suspect = false;
            send(new ConsulRequest.Read(key));
        }
    }

    private void stepFree() {
        if (windingDown != null) {
            tickets.answerNo();
            return;
        }
        if (!tickets.isEmpty()) {
            machine.sessions.ensure();
        }
        Generation generation = machine.sessions.current();
        KeyState seen = view;
        if (seen == null) {
            if (mustSettle || !tickets.isEmpty()) {
                send(new ConsulRequest.Read(key));
            }
        } else if (generation != null && generation.session.equals(seen.session())) {
            if (grantable && !tickets.isEmpty()) {
                grant(generation, seen);
            } else {
                unlock(generation, seen);
            }
        } else if (seenTokens.isOfHigherEpoch(seen)) {
            tickets.fail(() -> seenTokens.epochTooLow(seen));
        } else if (!seen.isFree()) {
            tickets.answerNo();
        } else if (generation != null && !tickets.isEmpty()) {
            grantable = true;
            send(new ConsulRequest.Lock(generation.number, generation.session, seen));
        }
    }

    private void unlock(Generation generation, KeyState seen) {
        grantable = false;
        mustSettle = true;
        send(new ConsulRequest.Unlock(generation.number, generation.session, seen));
    }

    private void grant(Generation generation, KeyState locked) {
        Moment now = machine.now();
        if (!machine.sessions.isFreshEnoughFor(this, generation, now)) {
            return;
        }
        FencingToken token = seenTokens.tokenOf(locked);
        if (!seenTokens.isGreaterThanAll(token)) {
            fail(() -> seenTokens.regression(token));
            unlock(generation, locked);
            return;
        }
        seenTokens.seeOwn(locked.index());
        grantable = false;
        mustSettle = false;
        ConsulLease granted = new ConsulLease(machine, this, generation, token, locked, now);
        lease = granted;
        generation.leases.add(granted);
        tickets.grant(granted);
        machine.events.acquired(granted);
    }

    void onAnswer(ConsulRequest request, ConsulAnswer answer) {
        inFlight = null;
        if (request instanceof ConsulRequest.Read) {
            onRead(answer);
        } else if (machine.sessions.isCurrent(request)) {
            onChange(request, answer);
        } else {
            // The session is dead and whatever it locked goes with it.
            forgetView();
        }
        if (distrusted) {
            distrusted = false;
            doubtEverything();
        }
        step();
        KeyState heard = unheard;
        unheard = null;
        if (heard != null) {
            seen(heard);
        }
    }

    private void onChange(ConsulRequest request, ConsulAnswer answer) {
        boolean locking = request instanceof ConsulRequest.Lock;
        if (answer instanceof ConsulAnswer.KeyChanged changed) {
            answered();
            lockDelayPause.reset();
            if (locking) {
                view = KeyState.heldBy(((ConsulRequest.Lock) request).session(), key, changed.index());
            } else {
                view = KeyState.unlocked(key, changed.index());
                mustSettle = false;
                seenTokens.seeOwn(changed.index());
            }
        } else if (answer instanceof ConsulAnswer.Done) {
            forgetView(); // unlocked together with others; the new index is not told
        } else if (locking && answer instanceof ConsulAnswer.Refused refused) {
            onLockRefused(refused.refusal());
        } else if (locking && !(answer instanceof ConsulAnswer.Failed)) {
            forgetView();
            fail(() -> machine.failure(answer));
        } else {
            view = null;
            mustSettle = true;
            if (!(answer instanceof ConsulAnswer.Refused)) {
                onFailure(answer);
            }
        }
    }

    private void onLockRefused(Refusal refusal) {
        answered();
        if (refusal == Refusal.LOCK_DELAY) {
            tickets.answerNo();
            inLockDelay = true;
            pauseUntil(machine.nextLockDelayTry(lockDelayPause.next()));
            return;
        }
        lockDelayPause.reset();
        view = null;
        mustSettle = true; // a first copy of this request may have locked the key, and this refusal be the second's
        if (refusal == Refusal.INVALID_SESSION) {
            machine.sessions.renewNow();
            pauseUntil(machine.now().plus(failurePause.next()));
        }
    }

    private void onRead(ConsulAnswer answer) {
        if (answer instanceof ConsulAnswer.KeyRead read) {
            answered();
            if (lease != null) {
                judge(lease, read.state());
            } else {
                view = read.state();
                mustSettle = false;
                if (!machine.sessions.isOurs(read.state())) {
                    seenTokens.see(read.state());
                }
            }
        } else if (lease != null) {
            suspect = true;
            pauseUntil(machine.now().plus(failurePause.next()));
        } else if (answer instanceof ConsulAnswer.Failed) {
            onFailure(answer);
        } else {
            fail(() -> machine.failure(answer));
            pauseUntil(machine.now().plus(failurePause.next()));
        }
    }

    /** Decides from a consistent read whether a held key is still ours. */
    private void judge(ConsulLease held, KeyState state) {
        if (machine.sessions.isOurs(state)) {
            held.confirmed(state, Objects.requireNonNull(sentAt));
            return;
        }
        if (!state.exists()) {
            doubt = LossReason.LOCK_DELETED;
        } else {
            doubt = state.isFree() ? LossReason.LOCK_RELEASED : LossReason.LOCK_TAKEN;
        }
        machine.sessions.askRenewal(this);
    }

    /** The session was asked and lives, or did not answer: so the key alone is lost. */
    void loseDoubtful() {
        if (lease != null && doubt != null) {
            lose(doubt);
            step();
        }
    }

    /** What the watch says of this key, which may be older or newer than what is known. */
    void seen(KeyState state) {
        boolean ours = machine.sessions.isOurs(state);
        if (lease != null) {
            if (ours && state.index() >= lease.guard().index()) {
                lease.confirmed(state, machine.now());
            } else {
                suspect = true; // not ours any more, or the list is older, or indexes went back: read
            }
        } else if (inFlight != null) {
            unheard = state;
        } else if (view == null) {
            mustSettle |= ours;
            if (!ours) {
                seenTokens.see(state);
            }
        } else if (state.index() > view.index()) {
            onNewer(state, view, ours);
        } else if (state.index() < view.index() && (ours || isHeldByOthers(view))) {
            view = null; // the list is older, or Consul's indexes went back and the key is not as it was: read
            mustSettle |= ours;
        }
        step();
    }

    private void onNewer(KeyState state, KeyState known, boolean ours) {
        // A key that is not listed may be hidden by an ACL, and one that is ours should not be: read it.
        view = ours || mustSettle || (known.exists() && !state.exists()) ? null : state;
        mustSettle |= ours;
        if (!ours) {
            seenTokens.see(state);
        }
        if (inLockDelay) {
            inLockDelay = false; // somebody could lock it, so the delay is over
            notBefore = null;
            lockDelayPause.reset();
        }
    }

    /** Nothing that was known can be trusted: Consul's indexes went backwards. */
    void doubtEverything() {
        if (lease != null) {
            suspect = true;
        } else if (inFlight != null) {
            distrusted = true;
        } else {
            view = null;
        }
        step();
    }

    /** Reads the key soon if it is held, because the watch does not tell. */
    void suspect() {
        suspect |= lease != null;
        step();
    }

    /** Ends the lease; the caller steps afterwards. */
    void lose(LossReason reason) {
        ConsulLease lost = lease;
        if (lost == null) {
            return;
        }
        lease = null;
        doubt = null;
        suspect = false;
        grantable = false;
        view = null;
        mustSettle = !lost.generation.dead;
        lost.generation.leases.remove(lost);
        lost.markLost(reason);
        windingDown = lost.isRetained() ? lost : null;
        machine.events.lost(lost, reason);
    }

    /** Ends the lease because its owner wants it, so its last known index guards the unlock. */
    void end(ConsulLease ended, LossReason reason) {
        if (lease == ended) {
            lose(reason);
            view = ended.guard();
            notBefore = null;
        }
    }

    /** Ends the lease and any work that is winding down for it; true if the key may have to be unlocked. */
    boolean give(ConsulLease given, LossReason reason) {
        boolean held = lease == given || windingDown == given;
        end(given, reason);
        if (held) {
            windingDown = null;
        }
        return held;
    }

    @Nullable
    ConsulLease windingDown() {
        return windingDown;
    }

    /** Leaves the unlock to a request that unlocks several keys; returns the guard, or null if this slot is busy. */
    @Nullable
    KeyState joinUnlockAll(ConsulRequest.UnlockAll request) {
        if (inFlight != null || notBefore != null || view == null || !machine.sessions.isOurs(view)) {
            return null;
        }
        inFlight = request;
        return view;
    }

    void onGenerationDied() {
        if (lease == null) {
            forgetView();
            step();
        }
    }

    /** Completes the future once it is known that Consul holds nothing for this slot that nobody owns. */
    CompletableFuture<Void> whenSettled(CompletableFuture<Void> settled) {
        if (isSettled()) {
            settled.complete(null);
        } else {
            waitingForSettlement.add(settled);
        }
        return settled;
    }

    void onTimer() {
        notBefore = null;
        inLockDelay = false;
        step();
    }

    void fail(Supplier<? extends RuntimeException> failure) {
        tickets.fail(failure);
    }

    /** Tells the tickets that Consul cannot be used now; those that may not wait for it end. */
    void failImpatient(ConsulAnswer answer) {
        tickets.failImpatient(() -> machine.failure(answer), !machine.hasEverAnswered());
    }

    private void onFailure(ConsulAnswer answer) {
        failImpatient(answer);
        pauseUntil(machine.now().plus(failurePause.next()));
    }

    private void answered() {
        failurePause.reset();
        tickets.answered();
    }

    private void forgetView() {
        view = null;
        mustSettle = false;
        grantable = false;
    }

    private boolean isHeldByOthers(@Nullable KeyState state) {
        return state != null && !state.isFree() && !machine.sessions.isOurs(state);
    }

    private boolean isSettled() {
        return lease == null
                && windingDown == null
                && inFlight == null
                && !mustSettle
                && (view == null || !machine.sessions.isOurs(view));
    }

    private void pauseUntil(Moment moment) {
        notBefore = moment;
        machine.callLater(this);
    }

    private void send(ConsulRequest request) {
        inFlight = request;
        sentAt = machine.now();
        machine.outbox.send(request);
    }
}
