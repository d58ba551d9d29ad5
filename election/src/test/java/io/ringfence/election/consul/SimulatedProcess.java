package io.ringfence.election.consul;

import io.ringfence.election.internal.Listeners;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** One process: a machine, its clocks, its network and its callers. While it is frozen nothing happens in it. */
final class SimulatedProcess implements Outbox {
    static final Duration REQUEST_TIMEOUT = Duration.ofMillis(1200);
    static final Duration WATCH_WAIT = Duration.ofSeconds(10);

    final Simulation world;
    final SplittableRandom random;
    final SimulatedClock clock;
    final SimulatedNetwork network;
    final SimulatedCallers callers;
    final ElectionMachine machine;
    private final int number;
    private long frozenUntil;
    private long tickAt = Long.MAX_VALUE;
    private boolean closing;
    private boolean dead;

    SimulatedProcess(Simulation world, int number, Duration lockDelay, SplittableRandom random) {
        this.world = world;
        this.number = number;
        this.random = random;
        this.clock = new SimulatedClock(random.split(), world.faults == Faults.CLOCKS, world.onTheEdge);
        if (clock.drifts()) {
            world.struck(FaultKind.CLOCK_DRIFT);
        }
        this.network = new SimulatedNetwork(this, random.split());
        this.callers = new SimulatedCallers(this, random.split());
        Settings settings = new Settings(
                List.of("http://simulated:8500"),
                null,
                Simulation.PREFIX,
                "simulated",
                0,
                Simulation.TTL,
                Simulation.MARGIN,
                lockDelay,
                REQUEST_TIMEOUT,
                WATCH_WAIT,
                false,
                null);
        this.machine = new ElectionMachine(
                settings, this::now, this, random.split(), new Listeners(List.of(callers), this::run));
        wake();
    }

    Moment now() {
        return clock.at(world.time.now());
    }

    /** What {@link ConsulLease#isHeld()} would say, without the declaration of the loss, which somebody else must make. */
    boolean isHeld(ConsulLease lease) {
        return !lease.isMarkedLost() && !lease.isExpiredAt(now());
    }

    // The outbox.

    @Override
    public void send(ConsulRequest request) {
        callers.sends(request);
        network.send(request, answer -> {
            if (answer instanceof ConsulAnswer.SessionCreated created) {
                world.consul.tell(created.session());
            }
            callers.beforeAnswer(request, answer);
            machine.answer(request, answer);
        });
    }

    @Override
    public CompletableFuture<ConsulAnswer> read(String key) {
        throw new UnsupportedOperationException("callers here do not block");
    }

    @Override
    public void run(Runnable action) {
        later(random.nextLong(5 * SimulatedTime.MILLI), action);
    }

    @Override
    public void wake() {
        tickAt(world.time.now() + 1);
    }

    private void tickAt(long when) {
        if (when < tickAt) {
            tickAt = when;
            later(when - world.time.now(), () -> {
                if (tickAt == when) {
                    tickAt = Long.MAX_VALUE;
                    tickAt(world.time.now() + Math.max(1, clock.took(machine.tick())));
                }
            });
        }
    }

    /** Runs the action in this process after so many nanoseconds, or later if it is frozen then. */
    void later(long nanos, Runnable action) {
        world.time.after(nanos, () -> {
            if (dead) {
                return;
            }
            if (world.time.now() < frozenUntil) {
                later(frozenUntil - world.time.now() + random.nextLong(SimulatedTime.MILLI), action);
            } else {
                callers.look(); // somebody always looks just before, and sees what is lost
                action.run();
                callers.look();
            }
        });
    }

    // What happens to it.

    void freeze(long nanos) {
        if (!isFrozen()) {
            frozenUntil = world.time.now() + nanos;
            // It may wake to a list from before Consul went back, and then be blind until the wait of a watch is over.
            world.struck(FaultKind.PROCESS_FROZEN, nanos + WATCH_WAIT.toNanos() * 17 / 16 + SimulatedTime.SECOND);
        }
    }

    void suspend(long nanos) {
        if (!isFrozen() && !clock.isSetBack) {
            freeze(nanos);
            clock.suspend(world.time.now(), nanos);
            world.struck(FaultKind.SUSPENDED, nanos);
        }
    }

    void stepWallClock(long millis) {
        if (millis > 0 || (clock.isSetBack && !isFrozen())) {
            clock.stepWall(millis);
            world.struck(millis > 0 ? FaultKind.WALL_CLOCK_FORWARD : FaultKind.WALL_CLOCK_BACK);
        }
    }

    boolean isFrozen() {
        return world.time.now() < frozenUntil;
    }

    /** Since when this process has been running. */
    long runsSince() {
        return frozenUntil;
    }

    /** Whether it goes on with that session. */
    boolean renews(String session) {
        Generation generation = machine.sessions.current();
        return !dead && generation != null && generation.session.equals(session);
    }

    /** Whether somebody here has a lease of the key from that session, or has not ended the work for one. */
    boolean owns(String key, String session) {
        for (SimulatedTerm term : callers.terms) {
            if (term.key.equals(key) && term.lease.generation.session.equals(session)) {
                if (isHeld(term.lease) || (term.retained && !term.workEnded)) {
                    return true;
                }
            }
        }
        return false;
    }

    void kill() {
        dead = true;
    }

    /** Does what {@link ConsulElections#close} does. */
    void close() {
        later(0, () -> {
            closing = true;
            long work = callers.endTerms() ? random.nextLong(SimulatedTime.SECOND) : 0;
            later(work, () -> {
                CompletableFuture<Void> unlocked = machine.shutDown();
                once(unlocked, machine.settings.closeLimit(), () -> {
                    CompletableFuture<Void> destroyed = machine.destroySessions();
                    once(destroyed, machine.settings.requestLimit(), this::kill);
                });
            });
        });
    }

    private void once(CompletableFuture<Void> future, Duration limit, Runnable action) {
        CompletableFuture<Void> first = new CompletableFuture<>();
        CompletableFuture<Void> unused = first.thenRun(action);
        CompletableFuture<Void> ignored = future.thenRun(() -> later(0, () -> first.complete(null)));
        later(limit.toNanos(), () -> first.complete(null));
    }

    boolean isClosing() {
        return closing;
    }

    boolean isDead() {
        return dead;
    }

    @Override
    public String toString() {
        return "P" + number;
    }
}
