package io.ringfence.election.consul;

import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;

/** Some processes, one Consul and a clock; everything follows from the seed. Throws {@link AssertionError} at a violation. */
final class Simulation {
    enum Faults {
        /** Nothing fails: no lease may be lost that nobody closed. */
        NONE,
        /** The network and the processes fail; nobody touches keys or sessions by hand, so one leads at most. */
        NETWORK,
        /** Somebody deletes, unlocks and locks keys and destroys sessions as well. */
        HANDS
    }

    static final String PREFIX = "ringfence/";
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final int PROCESSES = 3;
    private static final List<String> NAMES = List.of("a", "b");
    private static final long SECOND = 1_000_000_000L;

    private record Event(long when, long number, Runnable action) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::when).thenComparingLong(Event::number));
    private final SplittableRandom random;
    private final Faults faults;
    private final double faultRate;
    private final List<String> log = new ArrayList<>();
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private final Map<String, Long> highest = new HashMap<>();
    private final Set<ConsulLease> lost = new HashSet<>();
    private final Set<ConsulLease> signalled = new HashSet<>();
    private boolean faulty;
    private long steps;
    private long now;
    private long number;
    int grants;
    int losses;

    final SimulatedConsul consul;

    Simulation(long seed, Faults faults) {
        this.random = new SplittableRandom(seed);
        this.faults = faults;
        this.faulty = faults != Faults.NONE;
        this.faultRate = random.nextDouble(0.4);
        // Either of the two makes one lead at most: sessions that end only by their ttl, or the lock delay.
        Duration lockDelay = random.nextBoolean() ? Duration.ZERO : Duration.ofSeconds(8);
        this.consul = new SimulatedConsul(TTL, lockDelay, random.split());
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(new SimulatedProcess(this, TTL, lockDelay, random.split()));
        }
    }

    long now() {
        return now;
    }

    boolean isCalm() {
        return !faulty;
    }

    boolean strikes() {
        return faulty && random.nextDouble() < faultRate;
    }

    void at(long after, Runnable action) {
        events.add(new Event(now + Math.max(after, 0), number++, action));
    }

    void log(SimulatedProcess process, ConsulRequest request, ConsulAnswer answer) {
        say("P" + processes.indexOf(process) + " " + request + " -> " + answer);
    }

    private void say(String what) {
        log.add(String.format("%.4f %s", now / 1e9, what));
    }

    void run() {
        try {
            at(0, this::disturb);
            runUntil(120 * SECOND);
            faulty = false;
            say("faults end");
            runUntil(now + 45 * SECOND);
            requireNoOrphans();
            requireReleased();
            handOverUntilNobodyWaits();
            processes.forEach(SimulatedProcess::releaseAll);
            processes.forEach(SimulatedProcess::close);
            runUntil(now + 10 * SECOND);
            require(consul.liveSessions().isEmpty(), "sessions left: " + consul.liveSessions());
        } catch (RuntimeException e) {
            throw new AssertionError("at " + now / 1e9 + "\n" + tail(), e);
        }
    }

    private void runUntil(long end) {
        while (!events.isEmpty() && events.peek().when() <= end) {
            Event event = events.remove();
            now = event.when();
            require(steps++ < 3_000_000, "too many events");
            consul.moveTo(now);
            event.action().run();
            check();
        }
        now = end;
    }

    private void disturb() {
        if (now > 105 * SECOND) {
            return;
        }
        SimulatedProcess process = processes.get(random.nextInt(PROCESSES));
        String name = NAMES.get(random.nextInt(NAMES.size()));
        switch (random.nextInt(faults == Faults.NONE ? 10 : 12)) {
            case 0, 1, 2 -> process.contend(name, Ticket.Mode.WAIT);
            case 3, 4 -> process.contend(name, Ticket.Mode.ONCE);
            case 5 -> process.cancelOne();
            case 6, 7, 8 -> process.releaseOne();
            case 9 -> consul.putByHand(PREFIX + name);
            case 10 -> process.cutOff(Duration.ofNanos(random.nextLong(20 * SECOND)));
            default -> process.freeze(Duration.ofNanos(random.nextLong(12 * SECOND)));
        }
        if (faults == Faults.HANDS && random.nextInt(4) == 0) {
            byHand(PREFIX + name);
        }
        at(random.nextLong(random.nextInt(4) == 0 ? 10 * SECOND : SECOND / 2), this::disturb);
    }

    private void byHand(String key) {
        List<String> sessions = consul.liveSessions();
        int what = random.nextInt(4);
        say("by hand: " + what + " " + key);
        switch (what) {
            case 0 -> consul.deleteByHand(key);
            case 1 -> consul.releaseByHand(key);
            case 2 -> {
                if (!sessions.isEmpty()) {
                    consul.destroy(sessions.get(random.nextInt(sessions.size())));
                }
            }
            default -> {
                if (!sessions.isEmpty()) {
                    consul.lockByHand(key, sessions.get(random.nextInt(sessions.size())));
                }
            }
        }
    }

    // What must hold.

    private void check() {
        for (SimulatedProcess process : processes) {
            for (ConsulLease granted : process.collect()) {
                grants++;
                long token = granted.fencingToken().value();
                say("granted to P" + processes.indexOf(process) + " " + granted.slot.key() + " " + token);
                String whose =
                        faults == Faults.HANDS ? granted.slot.key() + processes.indexOf(process) : granted.slot.key();
                Long before = highest.put(whose, token);
                require(before == null || before < token, "token " + token + " after " + before);
                granted.lost().thenAccept(reason -> require(signalled.add(granted), "signalled twice: " + reason));
            }
            for (ConsulLease lease : process.leases) {
                boolean held = process.isHeld(lease);
                if (!held && lost.add(lease)) {
                    losses++;
                    say("lost by P" + processes.indexOf(process) + " " + lease.fencingToken());
                }
                require(!held || !lost.contains(lease), "held again: " + lease.fencingToken());
                if (faults == Faults.NONE && lease.isMarkedLost()) {
                    LossReason reason = lease.lossReason().orElseThrow();
                    require(reason == LossReason.RELEASED || reason == LossReason.SHUTDOWN, "lost by " + reason);
                }
            }
        }
        for (String name : NAMES) {
            long leaders = processes.stream()
                    .filter(process -> process.held(PREFIX + name) != null)
                    .count();
            require(faults == Faults.HANDS || leaders <= 1, leaders + " leaders of " + name);
        }
    }

    /** What a live session holds belongs to a lease. */
    private void requireNoOrphans() {
        for (String name : NAMES) {
            String key = PREFIX + name;
            String holder = consul.holder(key);
            require(
                    holder == null
                            || processes.stream()
                                    .map(process -> process.held(key))
                                    .anyMatch(lease -> lease != null && lease.generation.session.equals(holder)),
                    key + " is an orphan of " + holder);
        }
    }

    private void requireReleased() {
        for (SimulatedProcess process : processes) {
            process.releases.forEach((lease, released) ->
                    require(released.isDone(), "the release of " + lease.fencingToken() + " never ends"));
            process.leases.forEach(lease -> require(
                    !lost.contains(lease) || lease.lost().toCompletableFuture().isDone(),
                    "the loss of " + lease.fencingToken() + " was never signalled"));
        }
    }

    /** Each free key that somebody waits for is taken at once, and again after each release. */
    private void handOverUntilNobodyWaits() {
        for (int round = 0; round < 1 + PROCESSES; round++) {
            for (String name : NAMES) {
                boolean waiting = processes.stream()
                        .flatMap(process -> process.tickets.stream())
                        .anyMatch(ticket -> ticket.slot.name().equals(name));
                require(
                        !waiting || processes.stream().anyMatch(process -> process.held(PREFIX + name) != null),
                        name + " is free, and somebody waits for it");
            }
            processes.forEach(SimulatedProcess::releaseAll);
            runUntil(now + SECOND);
            requireNoOrphans();
            requireReleased();
        }
        require(processes.stream().allMatch(process -> process.tickets.isEmpty()), "somebody still waits");
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " at " + now / 1e9 + "\n" + tail());
        }
    }

    private String tail() {
        return String.join(
                "\n", log.subList(Math.max(0, log.size() - Integer.getInteger("simulation.log", 150)), log.size()));
    }
}
