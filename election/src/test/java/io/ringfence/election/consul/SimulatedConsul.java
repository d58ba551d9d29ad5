package io.ringfence.election.consul;

import io.ringfence.election.consul.ConsulAnswer.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What Consul is measured to do with sessions, locks and indexes, in simulated time: a session dies at some
 * time between its ttl and twice its ttl after the last renewal, its end arms the lock delay, a transaction is carried out whole or not at all, and every change of a
 * key has an index of its own.
 */
final class SimulatedConsul {
    private static final class Session {
        long diesAt;
    }

    private record Key(long index, @Nullable String session) {}

    private final SplittableRandom random;
    private final long ttlNanos;
    private final long lockDelayNanos;
    private final Map<String, Session> sessions = new HashMap<>();
    private final Map<String, Key> keys = new TreeMap<>();
    private final Map<String, Long> lockDelays = new HashMap<>();
    private final List<Runnable> watchers = new ArrayList<>();
    private long index = 10;
    private long listIndex = 10;
    private int made;
    private long now;

    SimulatedConsul(Duration ttl, Duration lockDelay, SplittableRandom random) {
        this.random = random;
        this.ttlNanos = ttl.toNanos();
        this.lockDelayNanos = lockDelay.toNanos();
    }

    /** Lets sessions die that are due. */
    void moveTo(long nanos) {
        now = nanos;
        sessions.entrySet().stream()
                .filter(session -> session.getValue().diesAt <= now)
                .map(Map.Entry::getKey)
                .sorted()
                .toList()
                .forEach(this::destroy);
    }

    /** Carries out anything but a watch. */
    ConsulAnswer carryOut(ConsulRequest request) {
        if (request instanceof ConsulRequest.CreateSession) {
            return new ConsulAnswer.SessionCreated(create());
        } else if (request instanceof ConsulRequest.RenewSession renew) {
            Session session = sessions.get(renew.session());
            if (session == null) {
                return new ConsulAnswer.SessionGone();
            }
            session.diesAt = now + ttlNanos + random.nextLong(ttlNanos);
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
            return new ConsulAnswer.KeyRead(state(read.key()));
        }
        throw new IllegalArgumentException("not to be carried out at once: " + request);
    }

    private String create() {
        String id = "session-" + ++made;
        Session session = new Session();
        session.diesAt = now + ttlNanos + random.nextLong(ttlNanos);
        sessions.put(id, session);
        return id;
    }

    /** Ends a session: its keys become free and are in lock delay. */
    void destroy(String id) {
        if (sessions.remove(id) == null) {
            return;
        }
        index++;
        for (String key : List.copyOf(keys.keySet())) {
            if (id.equals(holder(key))) {
                lockDelays.put(key, now + lockDelayNanos);
                set(key, null);
            }
        }
    }

    private ConsulAnswer lock(ConsulRequest.Lock lock) {
        Key key = keys.get(lock.key());
        if (!matches(lock.guard())) {
            return refused(Refusal.GUARD);
        }
        if (lockDelays.getOrDefault(lock.key(), 0L) > now) {
            return refused(Refusal.LOCK_DELAY);
        }
        if (!sessions.containsKey(lock.session())) {
            return refused(Refusal.INVALID_SESSION);
        }
        if (key != null && key.session() != null) {
            return key.session().equals(lock.session())
                    ? new ConsulAnswer.KeyChanged(key.index())
                    : refused(Refusal.HELD);
        }
        index++;
        set(lock.key(), lock.session());
        return new ConsulAnswer.KeyChanged(index);
    }

    private ConsulAnswer unlock(String session, List<KeyState> guards, boolean many) {
        for (KeyState guard : guards) {
            Key key = keys.get(guard.key());
            if (key == null || !matches(guard) || !session.equals(key.session())) {
                return refused(Refusal.GUARD);
            }
        }
        index++;
        guards.forEach(guard -> set(guard.key(), null));
        return many ? new ConsulAnswer.Done() : new ConsulAnswer.KeyChanged(index);
    }

    private boolean matches(KeyState guard) {
        Key key = keys.get(guard.key());
        return guard.exists() ? key != null && key.index() == guard.index() : key == null;
    }

    private static ConsulAnswer refused(Refusal refusal) {
        return new ConsulAnswer.Refused(refusal, refusal.name());
    }

    private void set(String key, @Nullable String session) {
        keys.put(key, new Key(index, session));
        changed();
    }

    private void changed() {
        listIndex = index;
        List<Runnable> woken = List.copyOf(watchers);
        watchers.clear();
        woken.forEach(Runnable::run);
    }

    // What others do to the keys.

    void putByHand(String key) {
        index++;
        Key old = keys.get(key);
        set(key, old == null ? null : old.session());
    }

    void deleteByHand(String key) {
        if (keys.remove(key) != null) {
            index++;
            changed();
        }
    }

    void releaseByHand(String key) {
        Key old = keys.get(key);
        if (old != null && old.session() != null) {
            index++;
            set(key, null);
        }
    }

    /** Locks a key in the name of that session. */
    void lockByHand(String key, String session) {
        if (sessions.containsKey(session) && holder(key) == null && lockDelays.getOrDefault(key, 0L) <= now) {
            index++;
            set(key, session);
        }
    }

    // What there is.

    private KeyState state(String key) {
        Key known = keys.get(key);
        return known == null
                ? KeyState.absent(key, index)
                : new KeyState(key, true, known.index(), known.session(), null);
    }

    ConsulAnswer list() {
        List<KeyState> all = keys.keySet().stream().map(this::state).toList();
        return new ConsulAnswer.KeyList(listIndex, all, 100L * all.size());
    }

    long listIndex() {
        return listIndex;
    }

    /** Calls once when the list changes next. */
    void whenChanged(Runnable watcher) {
        watchers.add(watcher);
    }

    @Nullable
    String holder(String key) {
        Key known = keys.get(key);
        return known == null ? null : known.session();
    }

    List<String> liveSessions() {
        return sessions.keySet().stream().sorted().toList();
    }
}
