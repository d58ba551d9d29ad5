package io.ringfence.election.consul;

import io.ringfence.election.consul.ConsulAnswer.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What Consul is measured to do with sessions and locks, in simulated time: a session dies at twice its ttl, or in some
 * histories at any time after its ttl; its end arms the lock delay; while there is no Raft leader nothing ends, and all
 * sessions start anew after that; a transaction is carried out whole or not at all.
 */
final class SimulatedConsul {
    private enum Expiry {
        AT_TWICE_THE_TTL,
        SOMETIMES_EARLIER,
        AT_THE_TTL
    }

    /** A session; it is told to its owner when the answer arrives there. */
    static final class Session {
        final String id;
        final SimulatedProcess owner;
        boolean told;
        private long diesAt;
        private long lateAt;

        Session(String id, SimulatedProcess owner) {
            this.id = id;
            this.owner = owner;
        }
    }

    private final Simulation world;
    private final SimulatedTime time;
    private final SplittableRandom random;
    private final long ttl;
    private final long lockDelay;
    private final Expiry expiry;
    private final Map<String, Session> sessions = new LinkedHashMap<>();
    private long nextDeath = Long.MAX_VALUE;
    private long leaderAt;
    private int made;

    final SimulatedKeys keys;

    SimulatedConsul(Simulation world, Duration ttl, Duration lockDelay, SplittableRandom random) {
        this.world = world;
        this.time = world.time;
        this.random = random;
        this.ttl = ttl.toNanos();
        this.lockDelay = lockDelay.toNanos();
        Expiry any = world.faults.any ? Expiry.values()[random.nextInt(3)] : Expiry.AT_TWICE_THE_TTL;
        this.expiry = world.onTheEdge ? Expiry.AT_THE_TTL : any;
        this.keys = new SimulatedKeys(world.time);
    }

    /** Lets sessions die that are due. */
    void expire() {
        if (nextDeath > time.now() || hasNoLeader()) {
            return;
        }
        nextDeath = Long.MAX_VALUE;
        long next = Long.MAX_VALUE;
        for (Session session : List.copyOf(sessions.values())) {
            if (session.diesAt <= time.now()) {
                if (session.diesAt < session.lateAt) {
                    world.struck(FaultKind.EARLY_EXPIRY);
                }
                destroy(session.id);
            } else {
                next = Math.min(next, session.diesAt);
            }
        }
        wakeAt(next);
    }

    private void live(Session session) {
        session.lateAt = time.now() + 2 * ttl;
        session.diesAt = switch (expiry) {
            case AT_TWICE_THE_TTL -> session.lateAt;
            case SOMETIMES_EARLIER -> time.now() + ttl + random.nextLong(ttl + 1);
            case AT_THE_TTL -> time.now() + ttl + 1;
        };
        wakeAt(session.diesAt);
    }

    private void wakeAt(long death) {
        if (death < nextDeath) {
            nextDeath = death;
            time.after(death - time.now(), this::expire);
        }
    }

    /** Nothing is answered or expires for so long; then all sessions live on as if they had been renewed. */
    void loseLeader(long nanos) {
        leaderAt = Math.max(leaderAt, time.now() + nanos);
        time.after(nanos, () -> {
            if (!hasNoLeader()) {
                nextDeath = Long.MAX_VALUE;
                sessions.values().forEach(this::live);
            }
        });
    }

    boolean hasNoLeader() {
        return time.now() < leaderAt;
    }

    long leaderAt() {
        return leaderAt;
    }

    /** Carries out anything but a watch. */
    ConsulAnswer carryOut(SimulatedProcess asker, ConsulRequest request) {
        if (request instanceof ConsulRequest.CreateSession) {
            Session session = new Session("s" + ++made, asker);
            sessions.put(session.id, session);
            live(session);
            return new ConsulAnswer.SessionCreated(session.id);
        } else if (request instanceof ConsulRequest.RenewSession renew) {
            Session session = sessions.get(renew.session());
            if (session == null) {
                return new ConsulAnswer.SessionGone();
            }
            live(session);
            return new ConsulAnswer.Done();
        } else if (request instanceof ConsulRequest.DestroySession destroy) {
            destroy(destroy.session());
            return new ConsulAnswer.Done();
        } else if (request instanceof ConsulRequest.Lock lock) {
            return lock(lock);
        } else if (request instanceof ConsulRequest.Unlock unlock) {
            return unlock(unlock.session(), List.of(unlock.guard()), false);
        } else if (request instanceof ConsulRequest.UnlockAll unlockAll) {
            return unlock(unlockAll.session(), unlockAll.guards(), true);
        } else if (request instanceof ConsulRequest.Read read) {
            return new ConsulAnswer.KeyRead(keys.read(read.key()));
        }
        throw new IllegalArgumentException("not to be carried out at once: " + request);
    }

    /** Ends a session: its keys become free and are in lock delay. */
    void destroy(String id) {
        if (sessions.remove(id) == null) {
            return;
        }
        List<String> held = keys.heldBy(id);
        if (lockDelay > 0) {
            held.forEach(key -> keys.delay(key, lockDelay));
        }
        keys.change(held, null);
    }

    private ConsulAnswer lock(ConsulRequest.Lock lock) {
        if (!keys.matches(lock.guard())) {
            return refused(Refusal.GUARD);
        }
        if (keys.isDelayed(lock.key())) {
            return refused(Refusal.LOCK_DELAY);
        }
        if (!sessions.containsKey(lock.session())) {
            return refused(Refusal.INVALID_SESSION);
        }
        String holder = keys.holder(lock.key());
        if (holder != null) {
            return holder.equals(lock.session())
                    ? new ConsulAnswer.KeyChanged(keys.read(lock.key()).index())
                    : refused(Refusal.HELD);
        }
        return new ConsulAnswer.KeyChanged(keys.change(lock.key(), lock.session()));
    }

    private ConsulAnswer unlock(String session, List<KeyState> guards, boolean many) {
        for (KeyState guard : guards) {
            if (!guard.exists() || !keys.matches(guard) || !session.equals(keys.holder(guard.key()))) {
                return refused(Refusal.GUARD);
            }
        }
        long index = keys.change(guards.stream().map(KeyState::key).toList(), null);
        return many ? new ConsulAnswer.Done() : new ConsulAnswer.KeyChanged(index);
    }

    private static ConsulAnswer refused(Refusal refusal) {
        return new ConsulAnswer.Refused(refusal, refusal.name());
    }

    // What others do.

    void putByHand(String key) {
        keys.change(key, keys.holder(key));
    }

    void releaseByHand(String key) {
        if (keys.holder(key) != null) {
            keys.change(key, null);
        }
    }

    /** Locks a key in the name of any session there is. */
    void lockByHand(String key) {
        List<String> ids = sessionIds();
        if (!ids.isEmpty() && keys.holder(key) == null && !keys.isDelayed(key)) {
            keys.change(key, ids.get(random.nextInt(ids.size())));
        }
    }

    void destroyByHand() {
        List<String> ids = sessionIds();
        if (!ids.isEmpty()) {
            destroy(ids.get(random.nextInt(ids.size())));
        }
    }

    // Going back.

    private record Snapshot(SimulatedKeys.Snapshot keys, List<Session> sessions) {}

    private @Nullable Snapshot saved;

    void save() {
        saved = new Snapshot(keys.snapshot(), List.copyOf(sessions.values()));
    }

    /** Goes back to what was saved; the index goes on, unless Consul was rebuilt. */
    void restore(boolean rebuilt) {
        Snapshot snapshot = saved;
        if (snapshot == null) {
            snapshot = new Snapshot(
                    new SimulatedKeys.Snapshot(Map.of(), SimulatedKeys.FIRST_INDEX, SimulatedKeys.FIRST_INDEX),
                    List.of());
        }
        Map<String, Session> before = Map.copyOf(sessions);
        sessions.clear();
        for (Session old : snapshot.sessions()) {
            Session session = new Session(old.id, old.owner);
            Session still = before.get(old.id);
            session.told = still != null && still.told; // nobody is told if it is back from the dead
            sessions.put(session.id, session);
            live(session);
        }
        if (rebuilt) {
            keys.rebuild(snapshot.keys());
        } else {
            keys.restore(snapshot.keys());
        }
    }

    // What there is.

    /** Its owner knows of the session. */
    void tell(String id) {
        Session session = sessions.get(id);
        if (session != null) {
            session.told = true;
        }
    }

    @Nullable
    Session session(String id) {
        return sessions.get(id);
    }

    Iterable<Session> sessions() {
        return sessions.values();
    }

    /** Whether sessions that nobody renews, or lock delays, are still to end. */
    boolean hasLeftovers() {
        for (Session session : sessions.values()) {
            if (!session.owner.renews(session.id)) {
                return true;
            }
        }
        return keys.isAnyDelayed();
    }

    private List<String> sessionIds() {
        return new ArrayList<>(sessions.keySet());
    }

    int made() {
        return made;
    }
}
