package io.ringfence.election.consul;

import io.ringfence.election.LossReason;
import java.util.EnumMap;
import java.util.Map;

/** What happened in one history, or in many: proof that the rules were put to the test. */
final class Tally {
    int histories;
    long events;
    long simulatedSeconds;
    int grants;
    int regressions;
    private long slowest;
    private long slowestAfterDelay;
    private final Map<Rule, Integer> excused = new EnumMap<>(Rule.class);
    private final Map<LossReason, Integer> losses = new EnumMap<>(LossReason.class);
    private final Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);

    void lost(LossReason reason) {
        losses.merge(reason, 1, Integer::sum);
    }

    void struck(FaultKind kind) {
        faults.merge(kind, 1, Integer::sum);
    }

    /** A lease was granted so long after its key became free for somebody who waited. */
    void granted(long after, boolean delayed) {
        if (delayed) {
            slowestAfterDelay = Math.max(slowestAfterDelay, after);
        } else {
            slowest = Math.max(slowest, after);
        }
    }

    /** A rule did not hold where it cannot. */
    void excused(Rule rule) {
        excused.merge(rule, 1, Integer::sum);
    }

    int excuses(Rule rule) {
        return excused.getOrDefault(rule, 0);
    }

    int losses(LossReason reason) {
        return losses.getOrDefault(reason, 0);
    }

    int faults(FaultKind kind) {
        return faults.getOrDefault(kind, 0);
    }

    void add(Tally other) {
        histories += other.histories;
        events += other.events;
        simulatedSeconds += other.simulatedSeconds;
        grants += other.grants;
        regressions += other.regressions;
        slowest = Math.max(slowest, other.slowest);
        slowestAfterDelay = Math.max(slowestAfterDelay, other.slowestAfterDelay);
        other.excused.forEach((rule, count) -> excused.merge(rule, count, Integer::sum));
        other.losses.forEach((reason, count) -> losses.merge(reason, count, Integer::sum));
        other.faults.forEach((kind, count) -> faults.merge(kind, count, Integer::sum));
    }

    @Override
    public String toString() {
        return simulatedSeconds + " simulated seconds, " + events + " events, " + grants
                + " grants; in a calm world at the latest " + slowest / SimulatedTime.MILLI
                + " ms after the key became free, and " + slowestAfterDelay / SimulatedTime.MILLI
                + " ms after a lock delay; losses " + losses + ", regressions " + regressions + ", faults " + faults
                + ", excused " + excused;
    }
}
