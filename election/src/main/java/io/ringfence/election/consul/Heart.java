package io.ringfence.election.consul;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The heartbeats of one generation, and the deadline that they move. A heartbeat that was answered proves that the agent
 * waits for the next one, and nothing about the session. Guarded by the machine's lock.
 */
final class Heart {
    private final ElectionMachine machine;
    private final FailureDetection detection;
    private final long generation;
    final String check;

    private Moment beatAt;
    private @Nullable Moment sentAt;
    private boolean beatAtOnce;
    private boolean failing;
    private boolean denied;
    private Moment deadline;

    /**
     * Creates the heart of a new generation.
     *
     * @param check the id of the health check
     * @param registeredAt not later than the registration was sent, which counts as a heartbeat
     */
    Heart(ElectionMachine machine, FailureDetection detection, long generation, String check, Moment registeredAt) {
        this.machine = machine;
        this.detection = detection;
        this.generation = generation;
        this.check = check;
        this.beatAt =
                registeredAt; // at once, for an agent that restarts has kept the heartbeat, but not the registration
        this.deadline = registeredAt.plus(detection.term());
    }

    Moment deadline() {
        return deadline;
    }

    boolean isDenied() {
        return denied;
    }

    boolean isFreshEnough(Moment now) {
        return deadline.nanosFrom(now) >= detection.term().toNanos() / 2;
    }

    void beatNow() {
        beatAtOnce = true;
        machine.outbox.wake();
    }

    void tick(Moment now) {
        if (sentAt == null && (beatAtOnce || beatAt.isReachedAt(now))) {
            beatAtOnce = false;
            sentAt = now;
            machine.outbox.send(new ConsulRequest.Heartbeat(generation, check));
        }
    }

    /** Takes note of an answer that came before the deadline; true if it is the first failure after a success. */
    boolean onAnswer(ConsulAnswer answer) {
        Moment beganAt = Objects.requireNonNull(sentAt);
        sentAt = null;
        beatAt = beganAt.plus(detection.interval());
        denied = answer instanceof ConsulAnswer.Denied;
        if (answer instanceof ConsulAnswer.Done) {
            failing = false;
            deadline = beganAt.plus(detection.term());
            return false;
        }
        boolean first = !failing;
        failing = true;
        return first;
    }

    Moment nextTick(Moment now, Moment latest) {
        if (sentAt != null) {
            return latest;
        }
        return beatAtOnce ? now : Moment.earlier(latest, beatAt, now);
    }
}
