package io.ringfence.election.consul;

import static io.ringfence.election.consul.SimulatedTime.SECOND;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What happens by itself in a history: what callers want, and what goes wrong beyond single requests. */
final class Disturbance {
    private static final List<String> NAMES = List.of("a", "b", "c", "d");
    private static final long LONGEST_BURST = 2 * SimulatedTime.MILLI;

    private final Simulation world;
    private final SplittableRandom random;
    private final List<String> names;
    private final List<SimulatedProcess> running = new ArrayList<>();
    private final int size;
    private boolean stopped;
    private boolean rebuilt;
    private int round;

    Disturbance(Simulation world, SplittableRandom random) {
        this.world = world;
        this.random = random;
        this.names = NAMES.subList(0, 1 + random.nextInt(NAMES.size()));
        this.size = 2 + random.nextInt(2);
    }

    void startProcesses() {
        for (int i = 0; i < size; i++) {
            running.add(world.startProcess());
        }
        call();
    }

    /** Begins with the faults. */
    void start() {
        round++;
        for (String name : names) {
            running.forEach(process -> process.callers.contend(name, Ticket.Mode.WAIT));
        }
        if (world.faults.any) {
            fault(round);
        }
    }

    /** Ends the faults. */
    void end() {
        if (rebuilt && random.nextBoolean()) {
            rebuilt = false;
            world.consul.keys.raiseIndex();
        }
    }

    /** Ends the calls. */
    void stop() {
        stopped = true;
    }

    private SimulatedProcess anyProcess() {
        return running.get(random.nextInt(size));
    }

    private String anyName() {
        return names.get(random.nextInt(names.size()));
    }

    private void call() {
        if (stopped) {
            return;
        }
        SimulatedCallers callers = anyProcess().callers;
        switch (random.nextInt(14)) {
            case 0, 1, 2 -> callers.contend(anyName(), Ticket.Mode.WAIT);
            case 3, 4 -> callers.contend(anyName(), Ticket.Mode.ONCE);
            case 5 -> callers.contend(anyName(), Ticket.Mode.TIMED);
            case 6 -> callers.cancelOne();
            case 7, 8, 9, 10 -> callers.releaseOne();
            case 11 -> callers.lookAtOne();
            case 12 -> callers.confirmOne();
            default -> {
                world.tally.struck(FaultKind.FOREIGN_PUT);
                world.consul.putByHand(Simulation.PREFIX + anyName());
            }
        }
        long pause = switch (random.nextInt(6)) {
            case 0 -> random.nextLong(3 * SECOND);
            case 1, 2 ->
                random.nextLong(LONGEST_BURST); // things that happen at the same moment are what bugs are made of
            default -> random.nextLong(SECOND);
        };
        world.time.after(pause, this::call);
    }

    private void fault(int begunIn) {
        if (!world.isFaulty() || begunIn != round) {
            return;
        }
        int chance = random.nextInt(16);
        if (chance < 8) {
            failure(chance);
        } else if (chance < 14) {
            special();
        }
        world.time.after(random.nextLong(2 * SECOND), () -> fault(begunIn));
    }

    private void failure(int which) {
        SimulatedProcess process = anyProcess();
        switch (which) {
            case 0, 1 -> {
                long slow = random.nextLong(5 * SECOND);
                process.network.slowDown(slow);
                if (which == 0) {
                    cutOff(process, slow);
                }
            }
            case 2 -> cutOff(process, 0);
            case 3 -> process.freeze(outage());
            case 4 -> process.network.deny(outage());
            case 5 -> {
                long nanos = outage();
                world.struck(FaultKind.NO_RAFT_LEADER, nanos);
                world.consul.loseLeader(nanos);
            }
            case 6 -> {
                world.struck(FaultKind.PROCESS_KILLED);
                process.kill();
                replace(process);
            }
            default -> {
                world.struck(FaultKind.PROCESS_RESTARTED);
                process.close();
                replace(process);
            }
        }
    }

    private void cutOff(SimulatedProcess process, long after) {
        process.later(after, () -> {
            if (world.isFaulty()) {
                process.network.cutOff(outage());
            }
        });
    }

    private long outage() {
        return outage(random);
    }

    /** From a moment to longer than any session lives. */
    static long outage(SplittableRandom random) {
        return switch (random.nextInt(4)) {
            case 0 -> 10 * SECOND + random.nextLong(15 * SECOND);
            case 1 -> random.nextLong(12 * SECOND);
            default -> random.nextLong(3 * SECOND);
        };
    }

    private void replace(SimulatedProcess process) {
        running.remove(process);
        running.add(world.startProcess());
    }

    private void special() {
        switch (world.faults) {
            case NONE, NETWORK -> {}
            case CLOCKS -> clockFault(anyProcess());
            case SESSIONS -> {
                if (random.nextInt(3) == 0) {
                    destroySession();
                }
            }
            case HANDS -> byHand(Simulation.PREFIX + anyName());
            case RESTORE -> goBack(false);
            case REBUILD -> goBack(true);
        }
    }

    private void clockFault(SimulatedProcess process) {
        switch (random.nextInt(4)) {
            case 0 -> process.stepWallClock(random.nextLong(20_000));
            case 1, 2 -> process.stepWallClock(-random.nextLong(20_000));
            default -> process.suspend(outage());
        }
    }

    private void destroySession() {
        world.struck(FaultKind.SESSION_DESTROYED);
        world.consul.destroyByHand();
    }

    private void byHand(String key) {
        switch (random.nextInt(5)) {
            case 0 -> {
                world.struck(FaultKind.KEY_DELETED);
                world.consul.keys.delete(key);
            }
            case 1, 2 -> {
                world.struck(FaultKind.KEY_RELEASED);
                world.consul.releaseByHand(key);
                if (random.nextBoolean()) {
                    world.struck(FaultKind.KEY_LOCKED);
                    world.consul.lockByHand(key);
                }
            }
            case 3 -> {
                world.struck(FaultKind.KEY_LOCKED);
                world.consul.lockByHand(key);
            }
            default -> destroySession();
        }
    }

    private void goBack(boolean rebuild) {
        switch (random.nextInt(3)) {
            case 0 -> world.consul.save();
            case 1 -> {
                // Watches that ask for what is newer than an index that is gone hear nothing until their wait is over.
                long blind = SimulatedProcess.WATCH_WAIT.toNanos() * 17 / 16 + SECOND;
                world.struck(rebuild ? FaultKind.REBUILT : FaultKind.RESTORED, blind);
                rebuilt |= rebuild;
                world.consul.restore(rebuild);
            }
            default -> {}
        }
    }
}
