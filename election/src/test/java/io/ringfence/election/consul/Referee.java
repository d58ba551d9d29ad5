package io.ringfence.election.consul;

import static io.ringfence.election.consul.SimulatedTime.MILLI;
import static io.ringfence.election.consul.SimulatedTime.SECOND;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the rules: at each grant and each loss, and twice a second what should not last. Between grants the leases that are
 * held only become fewer, for a lease that was lost and is held again is a violation of its own; so at each grant is always.
 */
final class Referee {
    private static final long EVERY = SECOND / 2;
    private static final long MOST_UNDECLARED = 1_500 * MILLI;
    private static final long MOST_UNANSWERED = 3 * SECOND;
    private static final long MOST_UNNOTICED = 2 * SECOND;
    private static final long MOST_ORPHANED = 2 * SECOND;
    private static final long MOST_SESSION_LEFT = 8 * SECOND;
    private static final long MOST_FREE = 100 * MILLI;
    private static final long MOST_FREE_AFTER_DELAY = 1_200 * MILLI;
    private static final int MOST_REQUESTS_PER_SECOND = 150;

    private record Holding(String session, long index, long since) {}

    private final Simulation world;
    private final Map<String, Long> highest = new HashMap<>();
    private final List<SimulatedTerm> ended = new ArrayList<>();
    private final Map<String, Holding> orphans = new HashMap<>();
    private final Map<String, Long> leftSince = new HashMap<>();
    private int requests;

    Referee(Simulation world) {
        this.world = world;
    }

    void start() {
        world.time.after(EVERY, () -> {
            audit();
            start();
        });
    }

    long highest(String key) {
        return highest.getOrDefault(key, 0L);
    }

    // At once.

    void granted(SimulatedTerm term, long waitedSince) {
        world.tally.grants++;
        world.log("granted: ", term);
        if (term.lease.generation.deadline.nanosFrom(term.process.now()) < Simulation.FRESH) {
            world.violated(Rule.FRESH_GRANT, term + " has little left of its term");
        }
        long before = highest(term.key);
        if (before >= term.token) {
            world.violated(Rule.TOKENS_GROW, term + " after " + before);
        }
        highest.put(term.key, Math.max(before, term.token));
        requireOneLeader(term);
        if (world.isSettled()) {
            long free = Math.max(world.consul.keys.lockableSince(term.key), Math.max(waitedSince, world.settledAt()));
            world.tally.granted(world.time.now() - free, world.consul.keys.wasDelayed(term.key));
        }
    }

    private void requireOneLeader(SimulatedTerm term) {
        for (SimulatedProcess process : world.processes) {
            for (SimulatedTerm other : process.callers.terms) {
                if (other != term && other.key.equals(term.key) && process.isHeld(other.lease) && !process.isDead()) {
                    world.violated(Rule.ONE_LEADER, term + " and " + other);
                }
            }
        }
    }

    /** Looks at a lease after something happened in its process. */
    void watch(SimulatedTerm term) {
        boolean marked = term.lease.isMarkedLost();
        boolean held = term.process.isHeld(term.lease);
        if (held && term.lostAt >= 0) {
            world.violated(Rule.LOSS_IS_FINAL, term + " is held again");
        }
        // A wall clock that goes forward and back again ends a lease only if somebody looks in between.
        if (!held && term.lostAt < 0 && (marked || !term.process.clock.isSetBack)) {
            term.lostAt = world.time.now();
        }
        if (marked && term.reason == null) {
            term.reason = term.lease.lossReason().orElseThrow();
            world.tally.lost(term.reason);
            world.log("lost: ", term);
            switch (term.reason) {
                case RELEASED, SHUTDOWN -> {}
                default -> world.violated(Rule.WANTED_LOSS, term.toString());
            }
        }
    }

    void ended(SimulatedTerm term) {
        ended.add(term);
    }

    /** Takes note of a request that Consul carried out. */
    void carriedOut(SimulatedProcess process, ConsulRequest request, ConsulAnswer answer) {
        requests++;
        for (SimulatedTerm term : process.callers.terms) {
            if (term.isWindingDown() && !process.isClosing() && unlocks(request, term)) {
                world.violated(Rule.WORK_ENDS_FIRST, term + " is unlocked by " + request);
            }
        }
        if (world.isSettled()
                && answer instanceof ConsulAnswer.Refused refused
                && refused.refusal() != ConsulAnswer.Refusal.LOCK_DELAY
                && request instanceof ConsulRequest.OnKey onKey
                && world.consul.keys.unchangedFor(onKey.key()) > SECOND) {
            world.violated(Rule.QUIET_WAITING, process + " sent " + request + ", which was refused: " + answer);
        }
    }

    private static boolean unlocks(ConsulRequest request, SimulatedTerm term) {
        return request instanceof ConsulRequest.Unlock unlock
                && unlock.key().equals(term.key)
                && unlock.session().equals(term.lease.generation.session)
                && unlock.guard().index() >= term.token;
    }

    // What should not last.

    private void audit() {
        world.rethrow();
        for (SimulatedProcess process : world.processes) {
            if (!process.isDead()) {
                auditTerms(process);
                if (world.isSettled() && !process.isClosing()) {
                    auditCalls(process);
                }
            }
        }
        for (SimulatedTerm term : ended) {
            if (!term.lease.isMarkedLost() || term.lease.lossReason().orElseThrow() != term.reason) {
                world.violated(Rule.LOSS_IS_FINAL, term + " changed");
            }
        }
        if (world.isSettled()) {
            world.consul.keys.all().forEach(this::auditHolding);
            world.consul.sessions().forEach(this::auditSession);
            if (requests > MOST_REQUESTS_PER_SECOND) {
                world.violated(Rule.QUIET_WAITING, requests + " requests in half a second");
            }
        } else {
            orphans.clear();
            leftSince.clear();
        }
        requests = 0;
    }

    private void auditTerms(SimulatedProcess process) {
        if (process.isFrozen()) {
            return;
        }
        for (SimulatedTerm term : process.callers.terms) {
            if (term.lostAt >= 0 && lasts(Math.max(term.lostAt, process.runsSince()), MOST_UNDECLARED)) {
                if (!term.lease.isMarkedLost()) {
                    world.violated(Rule.ONE_LOSS, term + " is over, but nobody says so");
                } else if (term.acquiredHeard + term.lostHeard + term.signals != 3) {
                    world.violated(Rule.ONE_LOSS, term + " is over, but not everybody was told");
                }
            }
            if (world.isSettled()) {
                auditKey(term);
            }
            if (world.isSettled()
                    && term.released != null
                    && !term.released.isDone()
                    && lasts(Math.max(term.releaseAskedAt, world.settledAt()), MOST_UNANSWERED)) {
                world.violated(Rule.ANSWERED, "the release of " + term + " does not end");
            }
        }
    }

    private void auditKey(SimulatedTerm term) {
        String session = term.lease.generation.session;
        if (!term.process.isHeld(term.lease) || session.equals(world.consul.keys.holder(term.key))) {
            term.keyGoneSince = Long.MAX_VALUE;
        } else {
            term.keyGoneSince = Math.min(term.keyGoneSince, world.time.now());
            if (lasts(term.keyGoneSince, MOST_UNNOTICED)) {
                world.violated(Rule.LOSS_IS_NOTICED, term + " is held, but its key is not");
            }
        }
    }

    private void auditCalls(SimulatedProcess process) {
        SimulatedKeys keys = world.consul.keys;
        for (SimulatedCallers.Call call : process.callers.calls) {
            String key = call.ticket().slot.key();
            long since = Math.max(call.since(), world.settledAt());
            if (call.ticket().mode == Ticket.Mode.ONCE && lasts(since, MOST_UNANSWERED)) {
                world.violated(Rule.ANSWERED, process + " asked once for " + key + " and hears nothing");
            }
            if (keys.holder(key) != null
                    || keys.isDelayed(key)
                    || call.ticket().slot.windingDown() != null) {
                continue;
            }
            long freeFor = Math.max(since, process.callers.workEndedAt(key));
            long lockable = keys.lockableSince(key);
            boolean delayed = keys.wasDelayed(key);
            if (lasts(Math.max(freeFor, lockable), delayed ? MOST_FREE_AFTER_DELAY : MOST_FREE)) {
                world.violated(Rule.TAKEN_AT_ONCE, key + " is free, and " + process + " waits for it");
            }
        }
    }

    private void auditHolding(KeyState state) {
        SimulatedConsul.Session session = state.session() == null ? null : world.consul.session(state.session());
        if (session == null || !session.owner.renews(session.id) || session.owner.owns(state.key(), session.id)) {
            orphans.remove(state.key());
            return;
        }
        Holding known = orphans.get(state.key());
        if (known == null || known.index() != state.index() || !known.session().equals(session.id)) {
            orphans.put(state.key(), new Holding(session.id, state.index(), world.time.now()));
        } else if (lasts(known.since(), MOST_ORPHANED)) {
            world.violated(Rule.NO_ORPHAN, state.key() + " is held by " + session.id + " of " + session.owner);
        }
    }

    private void auditSession(SimulatedConsul.Session session) {
        boolean left = session.told && !session.owner.isDead() && !session.owner.renews(session.id);
        if (!left) {
            leftSince.remove(session.id);
        } else if (lasts(leftSince.computeIfAbsent(session.id, id -> world.time.now()), MOST_SESSION_LEFT)) {
            world.violated(Rule.NO_SESSION_LEFT, session.id + " of " + session.owner);
        }
    }

    private boolean lasts(long since, long longest) {
        return world.time.now() - since > longest;
    }
}
