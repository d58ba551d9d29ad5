package io.ringfence.election.consul;

import static io.ringfence.election.consul.SimulatedTime.SECOND;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One history of some processes and one Consul: the machines are the real ones, all around them is modelled, and everything
 * follows from the seed. Times of faults alternate with calm ones. Throws a {@link Violation} if a rule does not hold.
 */
final class Simulation {
    static final String PREFIX = "ringfence/";
    static final Duration TTL = Duration.ofSeconds(10);
    static final Duration MARGIN = TTL.dividedBy(5);

    /** The nanoseconds that must be left of a term when a lease is granted. */
    static final long FRESH = TTL.minus(MARGIN).toNanos() / 2;

    private static final Duration LONG_LOCK_DELAY = Duration.ofSeconds(15);

    /** How long after the last effect of the last fault everything works again: pauses after failures have to end. */
    private static final long SETTLING = 4 * SECOND;

    private static final int ROUNDS = 2;
    private static final int LOG_LINES = 200;

    final Faults faults;
    final SimulatedTime time = new SimulatedTime();
    final Tally tally = new Tally();
    final Referee referee;
    final SimulatedConsul consul;

    /** All processes that are not over yet, those that close included. */
    final List<SimulatedProcess> processes = new ArrayList<>();

    /** All is as bad as the promise allows: sessions end at their ttl, no lock delay helps, all clocks are slow. */
    final boolean onTheEdge;

    private final SplittableRandom random;
    private final double faultRate;
    private final Duration lockDelay;
    private final Disturbance disturbance;
    private final List<String> log = new ArrayList<>();
    private final boolean logging;
    private boolean faulty;
    private long lastEffect;
    private int started;
    private @Nullable Violation violation;

    Simulation(long seed, Faults faults, boolean logging) {
        this.random = new SplittableRandom(seed);
        this.faults = faults;
        this.logging = logging;
        this.faulty = faults.any;
        this.faultRate = random.nextDouble() * 0.4;
        this.onTheEdge = faults.any && random.nextBoolean();
        this.lockDelay = lockDelay();
        this.referee = new Referee(this);
        this.consul = new SimulatedConsul(this, TTL, lockDelay, random.split());
        this.disturbance = new Disturbance(this, random.split());
        tally.histories = 1;
    }

    private Duration lockDelay() {
        if (faults == Faults.SESSIONS) {
            return onTheEdge ? TTL.minus(MARGIN) : LONG_LOCK_DELAY; // the shortest that keeps the promise
        }
        if (onTheEdge) {
            return Duration.ZERO;
        }
        return switch (random.nextInt(3)) {
            case 0 -> Duration.ZERO;
            case 1 -> Duration.ofSeconds(2);
            default -> LONG_LOCK_DELAY;
        };
    }

    /** Lives through the history. */
    Simulation run() {
        try {
            disturbance.startProcesses();
            referee.start();
            for (int round = 1; round <= ROUNDS; round++) {
                faulty = faults.any;
                disturbance.start();
                runFor(8 * SECOND + random.nextLong(14 * SECOND));
                faulty = false;
                lastEffect = Math.max(lastEffect, time.now());
                disturbance.end();
                time.runUntil(Math.max(settledAt(), time.now()));
                runFor(8 * SECOND);
            }
            disturbance.stop();
            while (consul.hasLeftovers()) {
                runFor(SECOND);
            }
            handOver();
            processes.forEach(SimulatedProcess::close);
            runFor(6 * SECOND);
            if (consul.sessions().iterator().hasNext()) {
                violated(
                        Rule.NO_SESSION_LEFT,
                        "after all were closed: " + consul.sessions().iterator().next().id);
            }
        } catch (RuntimeException e) {
            throw new Violation(Rule.NOTHING_THROWN, "at " + time.now() / 1e9 + " " + e, e);
        }
        tally.events = time.count();
        tally.simulatedSeconds = time.now() / SECOND;
        return this;
    }

    private void runFor(long nanos) {
        time.runUntil(time.now() + nanos);
    }

    /** Each key that somebody waits for is taken, again and again, until nobody waits. */
    private void handOver() {
        for (int i = 0; i <= 2 * processes.size(); i++) {
            processes.forEach(process -> process.callers.releaseAll());
            runFor(SECOND);
        }
        for (SimulatedProcess process : processes) {
            for (SimulatedCallers.Call call : process.callers.calls) {
                violated(
                        Rule.ANSWERED,
                        process + " still waits for " + call.ticket().slot.key());
            }
        }
    }

    SimulatedProcess startProcess() {
        SimulatedProcess process = new SimulatedProcess(this, ++started, lockDelay, random.split());
        processes.removeIf(SimulatedProcess::isDead);
        processes.add(process);
        return process;
    }

    // Faults.

    boolean isFaulty() {
        return faulty;
    }

    /** Whether one more thing is to go wrong now. */
    boolean strikes() {
        return faulty && random.nextDouble() < faultRate;
    }

    /** Something went wrong at this moment. */
    void struck(FaultKind kind) {
        tally.struck(kind);
        lastEffect = Math.max(lastEffect, time.now());
        log("-- ", kind);
    }

    /** Something went wrong that has effects for so long. */
    void struck(FaultKind kind, long nanos) {
        struck(kind);
        affectFor(nanos);
    }

    void affectFor(long nanos) {
        lastEffect = Math.max(lastEffect, time.now() + nanos);
    }

    /** Whether there are no effects of faults left but sessions of dead processes and lock delays. */
    boolean isSettled() {
        return !faulty && time.now() >= settledAt();
    }

    long settledAt() {
        return faults.any ? lastEffect + SETTLING : 0;
    }

    // Rules.

    void violated(Rule rule, String what) {
        if (!faults.excuse(rule)) {
            Violation found = new Violation(rule, what + " at " + time.now() / 1e9, null);
            violation = violation == null ? found : violation;
            throw violation;
        }
        tally.excused(rule);
    }

    /** Throws what was thrown before where listeners may throw what they like. */
    void rethrow() {
        if (violation != null) {
            throw violation;
        }
    }

    void carriedOut(SimulatedProcess process, ConsulRequest request, ConsulAnswer answer) {
        referee.carriedOut(process, request, answer);
        log(process, " ", request, " -> ", answer);
    }

    /** Strings are put together only if anybody will read them. */
    void log(Object... parts) {
        if (logging) {
            StringBuilder line = new StringBuilder(String.format("%.6f ", time.now() / 1e9));
            Arrays.stream(parts).forEach(line::append);
            log.add(line.toString());
        }
    }

    String log() {
        return String.join("\n", log);
    }

    /** The last part of the log. */
    String tail() {
        int lines = Integer.getInteger("simulation.log", LOG_LINES);
        return String.join("\n", log.subList(Math.max(0, log.size() - lines), log.size()));
    }
}
