package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.Listeners;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of all elections of one {@link ConsulElections}. It does no I/O, starts no thread and reads no clock of
 * its own: it is told what callers want and what Consul answered, and puts requests into the {@link Outbox}. So the same
 * code runs against a real Consul and against a simulated one.
 *
 * <p>One lock guards everything. Nothing under it blocks: requests, callbacks and log lines go to the outbox. The parts are
 * the {@link SessionKeeper}, whose session all leases share; the {@link KeyWatch}, which wakes; and a {@link Slot} for each
 * key, which contends.
 */
final class ElectionMachine {
    private static final Duration LONGEST_SLEEP = Duration.ofSeconds(1);
    private static final Duration LOCK_DELAY_SPACING = Duration.ofMillis(20);
    private static final int MOST_KEYS_PER_TRANSACTION = 32;

    private final ReentrantLock lock = new ReentrantLock();
    private final TimeSource time;
    final Settings settings;
    final Outbox outbox;
    final RandomGenerator random;
    final ElectionEvents events;
    final SessionKeeper sessions;
    final KeyWatch watch;

    private final Map<String, Slot> slots = new HashMap<>();
    private final Set<Slot> delayed = new LinkedHashSet<>();
    private @Nullable Moment lastLockDelayTry;
    private @Nullable Moment nextSweep;

    /** When {@link #tick} last said that it is due again. */
    private Moment toldDue;

    private volatile boolean everAnswered;
    private boolean outage;
    private boolean closing;

    ElectionMachine(Settings settings, TimeSource time, Outbox outbox, RandomGenerator random, Listeners listeners) {
        this.settings = settings;
        this.time = time;
        this.outbox = outbox;
        this.random = random;
        this.events = new ElectionEvents(outbox, listeners);
        this.sessions = new SessionKeeper(this);
        this.watch = new KeyWatch(this);
        this.toldDue = now();
    }

    // What callers want.

    Ticket contend(String name, Ticket.Mode mode) {
        return locked(() -> {
            requireOpen();
            sessions.expireIfDue(now());
            watch.start();
            Slot slot = slotOfKey(settings.keyPrefix() + name);
            Ticket ticket = new Ticket(slot, mode);
            slot.add(ticket);
            return ticket;
        });
    }

    /** Ends a ticket; returns the lease if it was granted before. */
    Optional<ConsulLease> cancel(Ticket ticket) {
        return locked(() -> {
            ticket.slot.remove(ticket);
            ticket.result.complete(Optional.empty());
            return ticket.result.isCompletedExceptionally() ? Optional.empty() : ticket.result.join();
        });
    }

    /** Ends the lease; the future completes when its key is known to be unlocked. */
    CompletableFuture<Void> release(ConsulLease lease) {
        return locked(() -> {
            expire(lease);
            CompletableFuture<Void> released = lease.released;
            if (released == null) {
                released = new CompletableFuture<>();
                lease.released = released;
                if (lease.slot.give(lease, LossReason.RELEASED)) {
                    CompletableFuture<Void> settled = lease.slot.whenSettled(released);
                    lease.slot.step(); // only now, for the next caller's request makes it unsettled again
                    return settled;
                }
                released.complete(null);
            }
            return released;
        });
    }

    /** Ends the lease, but unlocks its key only if the lease is not retained. */
    void end(ConsulLease lease, LossReason reason) {
        locked(() -> {
            expire(lease);
            lease.slot.end(lease, reason);
            lease.slot.step();
            return null;
        });
    }

    /** From now on the key stays locked after a loss until the lease is released. */
    void retain(ConsulLease lease, Consumer<LossReason> onLoss) {
        locked(() -> {
            lease.retain(onLoss, lease.lossReason());
            return null;
        });
    }

    /** Declares the lease lost if one of its deadlines has passed. */
    void expire(ConsulLease lease) {
        locked(() -> {
            Moment now = now();
            if (!lease.isMarkedLost() && !lease.generation.dead) {
                sessions.expireIfDue(now);
            }
            if (!lease.isMarkedLost() && lease.isUnconfirmedAt(now)) {
                lease.slot.lose(LossReason.DEADLINE_EXCEEDED);
                lease.slot.step();
            }
            return null;
        });
    }

    /** Looks into it, for a caller's read shows that the lease's key is not ours. */
    void suspect(ConsulLease lease) {
        locked(() -> {
            if (!lease.isMarkedLost()) {
                lease.slot.suspect();
            }
            return null;
        });
    }

    /** Refuses all further contention, ends every lease and unlocks every key. */
    CompletableFuture<Void> shutDown() {
        return locked(() -> {
            closing = true;
            List<Slot> held = new ArrayList<>();
            for (Slot slot : slots.values()) {
                slot.fail(ElectionMachine::closed);
                ConsulLease windingDown = slot.windingDown();
                if (windingDown != null && slot.give(windingDown, LossReason.SHUTDOWN)) {
                    held.add(slot);
                }
            }
            Generation generation = sessions.current();
            if (generation != null) {
                for (ConsulLease lease : List.copyOf(generation.leases)) {
                    boolean unused = lease.slot.give(lease, LossReason.SHUTDOWN);
                    held.add(lease.slot);
                }
                unlockTogether(generation, held);
            }
            forEachSlot(Slot::step);
            return CompletableFuture.allOf(slots.values().stream()
                    .map(slot -> slot.whenSettled(new CompletableFuture<>()))
                    .toArray(CompletableFuture<?>[]::new));
        });
    }

    private void unlockTogether(Generation generation, List<Slot> held) {
        for (int from = 0; from < held.size(); from += MOST_KEYS_PER_TRANSACTION) {
            List<KeyState> guards = new ArrayList<>();
            ConsulRequest.UnlockAll request =
                    new ConsulRequest.UnlockAll(generation.number, generation.session, guards);
            for (Slot slot : held.subList(from, Math.min(from + MOST_KEYS_PER_TRANSACTION, held.size()))) {
                KeyState guard = slot.joinUnlockAll(request);
                if (guard != null) {
                    guards.add(guard);
                }
            }
            if (!guards.isEmpty()) {
                outbox.send(request);
            }
        }
    }

    CompletableFuture<Void> destroySessions() {
        return locked(() -> {
            watch.stop();
            return sessions.destroyAll();
        });
    }

    // What the world says.

    void answer(ConsulRequest request, ConsulAnswer answer) {
        locked(() -> {
            note(request, answer);
            if (request instanceof ConsulRequest.OnKey onKey) {
                slotOfKey(onKey.key()).onAnswer(request, answer);
            } else if (request instanceof ConsulRequest.UnlockAll unlockAll) {
                unlockAll.guards().forEach(guard -> slotOfKey(guard.key()).onAnswer(request, answer));
            } else if (request instanceof ConsulRequest.RenewSession renew) {
                sessions.onRenewAnswer(renew, answer);
            } else if (request instanceof ConsulRequest.CreateSession) {
                sessions.onCreateAnswer(answer);
            } else if (request instanceof ConsulRequest.Heartbeat heartbeat) {
                sessions.onHeartbeatAnswer(heartbeat, answer);
            } else if (request instanceof ConsulRequest.DestroySession destroy) {
                sessions.leftovers().onDestroyAnswer(destroy, answer);
            } else if (request instanceof ConsulRequest.Deregister deregister) {
                sessions.leftovers().onDeregisterAnswer(deregister);
            } else {
                watch.onAnswer(answer);
            }
            Moment now = now();
            if (nextDue(now).nanosFrom(now) < toldDue.nanosFrom(now)) {
                outbox.wake();
            }
            return null;
        });
    }

    /** Takes note that Consul answered a caller, or did not; the answer itself is for the caller. */
    void hear(ConsulRequest request, ConsulAnswer answer) {
        locked(() -> {
            note(request, answer);
            return null;
        });
    }

    /** Does what is due; returns the nanoseconds after which to call again at the latest. */
    long tick() {
        return locked(() -> {
            Moment now = now();
            sessions.tick(now);
            watch.tick(now);
            for (Slot slot : List.copyOf(delayed)) {
                Moment notBefore = slot.notBefore();
                if (notBefore == null || notBefore.isReachedAt(now)) {
                    delayed.remove(slot);
                    slot.onTimer();
                }
            }
            sweep(now);
            toldDue = nextDue(now);
            return Math.max(toldDue.nanosFrom(now), 0);
        });
    }

    /** When {@link #tick} has something to do. */
    private Moment nextDue(Moment now) {
        Moment next = watch.nextTick(now, sessions.nextTick(now, now.plus(LONGEST_SLEEP)));
        for (Slot slot : delayed) {
            Moment notBefore = slot.notBefore();
            next = notBefore == null ? now : Moment.earlier(next, notBefore, now);
        }
        Generation generation = sessions.current();
        if (generation != null) {
            for (ConsulLease lease : generation.leases) {
                next = Moment.earlier(next, lease.confirmBy(), now);
            }
        }
        return next;
    }

    /** While the watch is silent, held keys are read one by one; leases that nothing confirms end. */
    private void sweep(Moment now) {
        Generation generation = sessions.current();
        if (generation == null) {
            return;
        }
        boolean due = nextSweep == null || nextSweep.isReachedAt(now);
        if (due) {
            nextSweep = now.plus(settings.renewInterval());
        }
        for (ConsulLease lease : List.copyOf(generation.leases)) {
            if (lease.isUnconfirmedAt(now)) {
                lease.slot.lose(LossReason.DEADLINE_EXCEEDED);
                lease.slot.step();
            } else if (due && watch.isSilentAt(now)) {
                lease.slot.suspect();
            }
        }
    }

    private void note(ConsulRequest request, ConsulAnswer answer) {
        if (!request.showsWhetherConsulAnswers()) {
            return;
        }
        if (answer instanceof ConsulAnswer.Failed failed) {
            if (!outage && everAnswered) {
                outage = true;
                events.outageBegan(failed.message());
            }
        } else {
            everAnswered = true;
            if (outage) {
                outage = false;
                events.outageEnded();
            }
        }
    }

    // Services for the parts; all but now() under the lock.

    Moment now() {
        return time.now();
    }

    boolean isClosing() {
        return closing;
    }

    boolean hasEverAnswered() {
        return everAnswered;
    }

    Slot slotOfKey(String key) {
        return slots.computeIfAbsent(
                key,
                missing -> new Slot(this, missing.substring(settings.keyPrefix().length()), missing));
    }

    void forEachSlot(Consumer<Slot> action) {
        List.copyOf(slots.values()).forEach(action);
    }

    void callLater(Slot slot) {
        delayed.add(slot);
        outbox.wake();
    }

    /** When a slot in a lock delay may try again; all slots together try at most 50 times a second. */
    Moment nextLockDelayTry(Duration pause) {
        Moment now = now();
        Moment wanted = now.plus(pause);
        if (lastLockDelayTry != null) {
            Moment free = lastLockDelayTry.plus(LOCK_DELAY_SPACING);
            wanted = free.nanosFrom(now) > wanted.nanosFrom(now) ? free : wanted;
        }
        lastLockDelayTry = wanted;
        return wanted;
    }

    /** The exception for an answer that ends a call. */
    ElectionException failure(ConsulAnswer answer) {
        if (answer instanceof ConsulAnswer.Failed failed) {
            return new ElectionException(failed.message(), failed.cause());
        }
        if (answer instanceof ConsulAnswer.Denied denied) {
            return new ElectionException(denied.message(), null);
        }
        if (answer instanceof ConsulAnswer.Rejected rejected) {
            return new ElectionException(rejected.message(), null);
        }
        return new ElectionException(
                "Consul at " + settings.address() + " gave an answer that makes no sense: " + answer
                        + ". Is it a Consul agent?",
                null);
    }

    static IllegalStateException closed() {
        return new IllegalStateException("These elections are closed. Build new ones to take part again");
    }

    void requireOpen() {
        if (closing) {
            throw closed();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
