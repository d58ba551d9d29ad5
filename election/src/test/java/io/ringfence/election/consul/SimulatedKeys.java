package io.ringfence.election.consul;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The keys of the modelled Consul: every change has an index of its own, wakes who watches, and outlives a deletion. */
final class SimulatedKeys {
    private static final int VERSIONS = 4;
    static final long FIRST_INDEX = 10;

    private record Watcher(long index, Runnable wake) {}

    private final SimulatedTime time;
    private final TreeMap<String, KeyState> keys = new TreeMap<>();
    private final Map<String, Long> changedAt = new HashMap<>();
    private final Map<String, Long> freeSince = new HashMap<>();
    private final Map<String, Long> delayedUntil = new HashMap<>();
    private final Deque<ConsulAnswer.KeyList> versions = new ArrayDeque<>();
    private final List<Watcher> watchers = new ArrayList<>();
    private long index = FIRST_INDEX;
    private long listIndex = FIRST_INDEX;
    private long highestIndex;

    SimulatedKeys(SimulatedTime time) {
        this.time = time;
    }

    KeyState read(String key) {
        KeyState known = keys.get(key);
        return known == null ? KeyState.absent(key, index) : known;
    }

    @Nullable
    String holder(String key) {
        KeyState known = keys.get(key);
        return known == null ? null : known.session();
    }

    List<String> heldBy(String session) {
        List<String> held = new ArrayList<>();
        for (KeyState state : keys.values()) {
            if (session.equals(state.session())) {
                held.add(state.key());
            }
        }
        return held;
    }

    Collection<KeyState> all() {
        return keys.values();
    }

    boolean matches(KeyState guard) {
        KeyState known = keys.get(guard.key());
        return guard.exists() ? known != null && known.index() == guard.index() : known == null;
    }

    // Changes, each of one key or more at once.

    /** Changes the keys to be held by the session, or by nobody; returns the index of the change. */
    long change(Collection<String> changed, @Nullable String session) {
        begin();
        for (String key : changed) {
            KeyState old = keys.put(key, new KeyState(key, true, index, session, null));
            if (session == null && (old == null || old.session() != null)) {
                freeSince.put(key, time.now());
            }
        }
        end(changed);
        return index;
    }

    long change(String key, @Nullable String session) {
        return change(List.of(key), session);
    }

    void delete(String key) {
        if (keys.containsKey(key)) {
            begin();
            KeyState old = keys.remove(key);
            if (old.session() != null) {
                freeSince.put(key, time.now());
            }
            end(List.of(key));
        }
    }

    private void begin() {
        versions.add(list());
        if (versions.size() > VERSIONS) {
            versions.remove();
        }
        index++;
    }

    private void end(Collection<String> changed) {
        if (!changed.isEmpty()) {
            changed.forEach(key -> changedAt.put(key, time.now()));
            listIndex = index;
            wake(false);
        }
    }

    void delay(String key, long nanos) {
        delayedUntil.put(key, time.now() + nanos);
    }

    boolean isDelayed(String key) {
        return delayedUntil.getOrDefault(key, 0L) > time.now();
    }

    boolean isAnyDelayed() {
        return delayedUntil.values().stream().anyMatch(until -> until > time.now());
    }

    /** What last kept the key from being locked was its lock delay. */
    boolean wasDelayed(String key) {
        return delayedUntil.getOrDefault(key, 0L) >= freeSince.getOrDefault(key, 0L) && delayedUntil.containsKey(key);
    }

    /** Since when nothing forbids to lock the key, if it is free; if it is held, since when that was so before. */
    long lockableSince(String key) {
        return Math.max(freeSince.getOrDefault(key, 0L), delayedUntil.getOrDefault(key, 0L));
    }

    /** The key has not changed for so long. */
    long unchangedFor(String key) {
        return time.now() - changedAt.getOrDefault(key, 0L);
    }

    // Lists.

    ConsulAnswer.KeyList list() {
        return new ConsulAnswer.KeyList(listIndex, List.copyOf(keys.values()), 100L * keys.size());
    }

    /** The list as it was so many changes ago, as far as it is known. */
    ConsulAnswer.KeyList listBefore(int changes) {
        Iterator<ConsulAnswer.KeyList> older = versions.descendingIterator();
        ConsulAnswer.KeyList list = list();
        for (int i = 0; i < changes && older.hasNext(); i++) {
            list = older.next();
        }
        return list;
    }

    /** Calls once as soon as the list is newer than the index; returns what to call to stop that. */
    Runnable whenNewer(long than, Runnable wake) {
        Watcher watcher = new Watcher(than, wake);
        watchers.add(watcher);
        return () -> watchers.remove(watcher);
    }

    private void wake(boolean all) {
        for (int i = 0; i < watchers.size(); i++) {
            Watcher watcher = watchers.get(i);
            if (all || watcher.index() < listIndex) {
                watchers.remove(i--);
                watcher.wake().run();
            }
        }
    }

    long listIndex() {
        return listIndex;
    }

    // Going back.

    record Snapshot(Map<String, KeyState> keys, long index, long listIndex) {}

    Snapshot snapshot() {
        return new Snapshot(Map.copyOf(keys), index, listIndex);
    }

    /** Goes back to the keys of a snapshot. All watches wake first, and hear what was until now. */
    void restore(Snapshot snapshot) {
        wake(true);
        keys.clear();
        keys.putAll(snapshot.keys());
        listIndex = snapshot.listIndex();
        delayedUntil.clear();
        versions.clear();
        for (KeyState state : keys.values()) {
            changedAt.put(state.key(), time.now());
        }
        freeSince.replaceAll((key, since) -> time.now());
    }

    /** Goes back to the index, too. */
    void rebuild(Snapshot snapshot) {
        highestIndex = Math.max(highestIndex, index);
        restore(snapshot);
        index = snapshot.index();
    }

    /** Consul writes other things until its index is higher than ever. */
    void raiseIndex() {
        index = Math.max(index, highestIndex);
    }
}
