package io.ringfence.election.consul;

import io.ringfence.election.internal.Backoff;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one blocking query for all keys of ours. It wakes the slots; it never judges, for a list may lag, may hide keys, and
 * may be older than our own lock. Guarded by the machine's lock.
 */
final class KeyWatch {
    private static final Duration SHORTEST_CYCLE = Duration.ofMillis(5);
    private static final Duration SPINNING_CYCLE = Duration.ofMillis(200);
    private static final long LARGE_ANSWER_BYTES = 100_000;
    private static final long MOST_BYTES_PER_SECOND = 10_000_000;
    private static final int MANY_KEYS = 2_000;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    private final ElectionMachine machine;
    private final Backoff failurePause;
    private boolean started;
    private boolean inFlight;
    private boolean saidManyKeys;
    private long index;
    private long lastListIndex;
    private @Nullable Moment sentAt;
    private @Nullable Moment notBefore;
    private @Nullable Moment silentFrom;

    KeyWatch(ElectionMachine machine) {
        this.machine = machine;
        this.failurePause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
    }

    void start() {
        if (!started) {
            started = true;
            Moment now = machine.now();
            silentFrom = now.plus(machine.settings.watchSilence());
            send(now);
        }
    }

    void stop() {
        started = false;
    }

    /** True if the watch has not answered for longer than a healthy one may take. */
    boolean isSilentAt(Moment now) {
        return silentFrom != null && silentFrom.isReachedAt(now);
    }

    void onAnswer(ConsulAnswer answer) {
        inFlight = false;
        Moment now = machine.now();
        if (answer instanceof ConsulAnswer.KeyList list) {
            failurePause.reset();
            silentFrom = now.plus(machine.settings.watchSilence());
            notBefore = Objects.requireNonNull(sentAt).plus(cycle(list, now));
            boolean wentBack = list.index() < lastListIndex;
            lastListIndex = list.index();
            index = wentBack ? 0 : Math.max(list.index(), 1);
            if (wentBack) {
                machine.forEachSlot(Slot::doubtEverything);
            }
            tell(list);
        } else {
            index = 0;
            notBefore = now.plus(failurePause.next());
        }
        if (started && isDue(now)) {
            send(now);
        }
    }

    private Duration cycle(ConsulAnswer.KeyList list, Moment now) {
        if (list.bytes() > LARGE_ANSWER_BYTES) {
            long elapsed = -Objects.requireNonNull(sentAt).nanosFrom(now);
            return Duration.ofNanos(elapsed + list.bytes() * 1_000_000_000 / MOST_BYTES_PER_SECOND);
        }
        return index > 0 && list.index() <= index ? SPINNING_CYCLE : SHORTEST_CYCLE;
    }

    private void tell(ConsulAnswer.KeyList list) {
        if (list.keys().size() > MANY_KEYS && !saidManyKeys) {
            saidManyKeys = true;
            machine.events.manyKeys(machine.settings.keyPrefix(), list.keys().size());
        }
        Map<String, KeyState> listed = new HashMap<>();
        for (KeyState state : list.keys()) {
            listed.put(state.key(), state);
            if (machine.sessions.isOurs(state)) {
                machine.slotOfKey(state.key()); // a key held in our name must have a slot, which then decides
            }
        }
        machine.forEachSlot(slot -> {
            KeyState state = listed.get(slot.key());
            slot.seen(state == null ? KeyState.absent(slot.key(), list.index()) : state);
        });
    }

    void tick(Moment now) {
        if (started && !inFlight && isDue(now)) {
            send(now);
        }
    }

    private boolean isDue(Moment now) {
        return notBefore == null || notBefore.isReachedAt(now);
    }

    private void send(Moment now) {
        inFlight = true;
        sentAt = now;
        machine.outbox.send(new ConsulRequest.Watch(index));
    }

    Moment nextTick(Moment now, Moment latest) {
        if (!started || inFlight) {
            return latest;
        }
        return notBefore == null ? now : Moment.earlier(latest, notBefore, now);
    }
}
