package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Those who call the elections of one process: they contend, lead, give up and look, and hear of what happens. */
final class SimulatedCallers implements ElectionListener {
    /** One call that waits for an answer. */
    record Call(Ticket ticket, long since) {}

    private final SimulatedProcess process;
    private final Simulation world;
    private final SplittableRandom random;
    final List<Call> calls = new ArrayList<>();
    final List<SimulatedTerm> terms = new ArrayList<>();
    private final Map<String, Long> workEndedAt = new HashMap<>();
    private final Set<String> locking = new HashSet<>();
    private final Map<String, Long> lockTold = new HashMap<>();
    private long lastList;
    private final Map<String, Long> highest = new HashMap<>();

    SimulatedCallers(SimulatedProcess process, SplittableRandom random) {
        this.process = process;
        this.world = process.world;
        this.random = random;
    }

    private void now(Runnable action) {
        process.later(0, () -> {
            if (!process.isClosing()) {
                action.run();
            }
        });
    }

    // What they do.

    void contend(String name, Ticket.Mode mode) {
        now(() -> {
            world.log("contends: ", process, " ", name, " ", mode);
            Call call = new Call(process.machine.contend(name, mode), world.time.now());
            calls.add(call);
            if (mode == Ticket.Mode.TIMED) {
                process.later(random.nextLong(5 * SimulatedTime.SECOND), () -> cancel(call));
            }
        });
    }

    void cancelOne() {
        now(() -> {
            if (!calls.isEmpty()) {
                cancel(calls.get(random.nextInt(calls.size())));
            }
        });
    }

    private void cancel(Call call) {
        if (calls.remove(call)) {
            process.machine.cancel(call.ticket()).ifPresent(granted -> release(begin(granted, call.since())));
        }
    }

    void releaseOne() {
        now(() -> {
            if (!terms.isEmpty()) {
                SimulatedTerm term = terms.get(random.nextInt(terms.size()));
                if (term.retained && !term.workEnded) {
                    term.lease.end(LossReason.RELEASED);
                } else {
                    release(term);
                }
            }
        });
    }

    void releaseAll() {
        now(() -> List.copyOf(terms).forEach(this::release));
    }

    private void release(SimulatedTerm term) {
        if (term.released == null) {
            term.releaseAskedAt = world.time.now();
        }
        term.workEnded = true;
        workEndedAt.put(term.key, world.time.now());
        term.released = process.machine.release(term.lease);
        world.log("release: ", term);
    }

    /** Looks at a lease, which declares its loss if it is due. */
    void lookAtOne() {
        now(() -> {
            if (!terms.isEmpty()) {
                boolean unused = terms.get(random.nextInt(terms.size())).lease.isHeld();
            }
        });
    }

    /** Does what {@link ConsulLease#confirm} does, for a fence that has seen a higher token, or none. */
    void confirmOne() {
        now(() -> {
            if (terms.isEmpty()) {
                return;
            }
            SimulatedTerm term = terms.get(random.nextInt(terms.size()));
            boolean higherSeen = world.referee.highest(term.key) > term.token;
            ConsulRequest read = new ConsulRequest.Read(term.key);
            process.network.send(read, answer -> {
                process.machine.hear(read, answer);
                if (answer instanceof ConsulAnswer.KeyRead state && term.lease.isHeld()) {
                    if (!term.lease.generation.session.equals(state.state().session())) {
                        process.machine.suspect(term.lease);
                    } else if (higherSeen) {
                        world.violated(Rule.NO_FALSE_ALARM, term + " is confirmed, but a higher token was seen");
                    }
                }
            });
        });
    }

    /** Ends the leases whose work has to end first; true if there are any. */
    boolean endTerms() {
        boolean any = false;
        for (SimulatedTerm term : terms) {
            if (term.retained && !term.workEnded) {
                term.lease.end(LossReason.SHUTDOWN);
                any = true;
            }
        }
        return any;
    }

    // What they see.

    /** Called after everything that happens in this process. */
    void look() {
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            if (call.ticket().result.isDone()) {
                calls.remove(i--);
                end(call);
            }
        }
        for (int i = 0; i < terms.size(); i++) {
            SimulatedTerm term = terms.get(i);
            world.referee.watch(term);
            if (term.isOver()) {
                terms.remove(i--);
                world.referee.ended(term);
            }
        }
    }

    private void end(Call call) {
        Ticket ticket = call.ticket();
        try {
            ConsulLease granted = ticket.result.join().orElse(null);
            if (granted == null) {
                if (ticket.mode == Ticket.Mode.WAIT && !process.isClosing()) {
                    world.violated(Rule.ANSWERED, process + " was told no where it waited for " + ticket.slot.key());
                }
                return;
            }
            SimulatedTerm term = begin(granted, call.since());
            if (world.isFaulty() && random.nextInt(16) == 0) { // the caller was interrupted at that moment
                process.machine.cancel(ticket).ifPresent(given -> release(term));
            } else if (random.nextInt(3) == 0) {
                retain(term);
            }
        } catch (CompletionException e) {
            refused(ticket, e.getCause());
        }
    }

    private void refused(Ticket ticket, @Nullable Throwable why) {
        if (why instanceof TokenRegressionException) {
            world.tally.regressions++;
            world.violated(Rule.NO_FALSE_ALARM, process + " " + ticket.slot.key() + " " + why.getMessage());
        } else if (!(why instanceof ElectionException) && !(why instanceof IllegalStateException)) {
            world.violated(Rule.NOTHING_THROWN, process + " " + ticket.slot.key() + " " + why);
        }
    }

    private SimulatedTerm begin(ConsulLease granted, long since) {
        SimulatedTerm term = new SimulatedTerm(process, granted);
        terms.add(term);
        granted.lost().thenAccept(reason -> term.signals++);
        Long told = lockTold.remove(term.key);
        if (told != null && told != term.token) {
            world.violated(Rule.TOKEN_OF_THE_LOCK, term + ", but its lock was answered with " + told);
        }
        Long before = highest.put(term.key, term.token);
        if (before != null && before >= term.token) {
            world.violated(Rule.TOKENS_GROW_IN_A_PROCESS, term + " after " + before);
        }
        world.referee.granted(term, Math.max(since, workEndedAt(term.key)));
        return term;
    }

    private void retain(SimulatedTerm term) {
        term.retained = true;
        term.lease.retain(reason -> process.later(random.nextLong(2 * SimulatedTime.SECOND), () -> release(term)));
    }

    /** When the key was last given back after work for a lease that was lost. */
    long workEndedAt(String key) {
        return workEndedAt.getOrDefault(key, 0L);
    }

    void sends(ConsulRequest request) {
        if (request instanceof ConsulRequest.OnKey onKey && !(request instanceof ConsulRequest.Read)) {
            lockTold.remove(onKey.key());
            if (request instanceof ConsulRequest.Lock) {
                locking.add(onKey.key());
            }
        }
    }

    /** Notes the index of a lock that has to be granted at once. */
    void beforeAnswer(ConsulRequest request, ConsulAnswer answer) {
        if (answer instanceof ConsulAnswer.KeyList list) {
            if (list.index() < lastList) { // nothing is trusted now, so the lock has to be read
                locking.clear();
                lockTold.clear();
            }
            lastList = list.index();
        } else if (request instanceof ConsulRequest.Lock lock
                && locking.remove(lock.key())
                && answer instanceof ConsulAnswer.KeyChanged changed
                && canGrant(lock)) {
            lockTold.put(lock.key(), changed.index());
        }
    }

    private boolean canGrant(ConsulRequest.Lock lock) {
        Generation generation = process.machine.sessions.current();
        return generation != null
                && generation.number == lock.generation()
                && generation.deadline.nanosFrom(process.now()) >= Simulation.FRESH
                && calls.stream().anyMatch(call -> call.ticket().slot.key().equals(lock.key()));
    }

    @Override
    public void onAcquired(Lease lease) {
        heard(lease).acquiredHeard++;
    }

    @Override
    public void onLost(Lease lease, LossReason reason) {
        SimulatedTerm term = heard(lease);
        term.lostHeard++;
        if (term.acquiredHeard != 1 || term.lostHeard != 1 || term.reason != reason) {
            world.violated(Rule.ONE_LOSS, term + ": lost by " + reason + " was told " + term.lostHeard + " times");
        }
    }

    private SimulatedTerm heard(Lease lease) {
        for (SimulatedTerm term : terms) {
            if (term.lease.equals(lease)) {
                return term;
            }
        }
        world.violated(Rule.ONE_LOSS, "news of a lease that is over or nobody got: " + lease);
        throw new IllegalStateException();
    }
}
