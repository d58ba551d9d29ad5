package io.ringfence.election.consul;

import io.ringfence.election.internal.Listeners;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One process: a machine, its threads as queues, and a network to Consul that loses, delays and repeats. */
final class SimulatedProcess implements Outbox {
    private static final Duration REQUEST_TIMEOUT = Duration.ofMillis(1200);
    private static final Duration WATCH_WAIT = Duration.ofSeconds(10);
    private static final long MILLI = 1_000_000;
    private static final int CONTROL_THREADS = 2;
    private static final ConsulAnswer CUT_OFF = new ConsulAnswer.Failed("cut off", null);

    private final Simulation world;
    private final SplittableRandom random;
    final ElectionMachine machine;
    final List<ConsulLease> leases = new ArrayList<>();
    final List<Ticket> tickets = new ArrayList<>();
    final Map<ConsulLease, CompletableFuture<Void>> releases = new HashMap<>();

    private final Deque<ConsulRequest> control = new ArrayDeque<>();
    private final Deque<ConsulRequest> renewals = new ArrayDeque<>();
    private int controlBusy;
    private int renewBusy;
    private long frozenUntil;
    private long cutOffUntil;
    private long tickAt = Long.MAX_VALUE;
    boolean closed;

    SimulatedProcess(Simulation world, Duration ttl, Duration lockDelay, SplittableRandom random) {
        this.world = world;
        this.random = random;
        Settings settings = new Settings(
                List.of("http://simulated:8500"),
                null,
                Simulation.PREFIX,
                "simulated",
                0,
                ttl,
                ttl.dividedBy(5),
                lockDelay,
                REQUEST_TIMEOUT,
                WATCH_WAIT,
                null);
        this.machine =
                new ElectionMachine(settings, this::now, this, random.split(), new Listeners(List.of(), Runnable::run));
        wake();
    }

    Moment now() {
        return new Moment(world.now(), world.now() / MILLI);
    }

    // The outbox.

    @Override
    public void send(ConsulRequest request) {
        if (request instanceof ConsulRequest.Watch watch) {
            watch(watch);
        } else if (request instanceof ConsulRequest.RenewSession) {
            renewals.add(request);
        } else {
            control.add(request);
        }
        startQueued();
    }

    private void startQueued() {
        while (controlBusy < CONTROL_THREADS && !control.isEmpty()) {
            controlBusy++;
            start(control.remove(), () -> controlBusy--);
        }
        while (renewBusy < 1 && !renewals.isEmpty()) {
            renewBusy++;
            start(renewals.remove(), () -> renewBusy--);
        }
    }

    @Override
    public CompletableFuture<ConsulAnswer> read(String key) {
        throw new UnsupportedOperationException("callers' reads have no place here");
    }

    @Override
    public void run(Runnable action) {
        here(random.nextLong(5 * MILLI), action);
    }

    @Override
    public void wake() {
        tickAt(world.now() + 1);
    }

    private void tickAt(long when) {
        if (when < tickAt) {
            tickAt = when;
            here(when - world.now(), () -> {
                if (tickAt == when) {
                    tickAt = Long.MAX_VALUE;
                    tickAt(world.now() + Math.max(1, machine.tick()));
                }
            });
        }
    }

    // The network.

    private void start(ConsulRequest request, Runnable threadIsFree) {
        AtomicBoolean answered = new AtomicBoolean();
        long timeout = REQUEST_TIMEOUT.toNanos();
        if (world.now() < cutOffUntil) {
            world.log(this, request, CUT_OFF);
        } else if (world.strikes()) {
            fault(request, answer -> arrive(request, answer, answered, threadIsFree));
        } else {
            reach(request, latency(), answer -> arrive(request, answer, answered, threadIsFree));
        }
        here(timeout, () -> arrive(request, new ConsulAnswer.Failed("timed out", null), answered, threadIsFree));
    }

    private void fault(ConsulRequest request, Consumer<ConsulAnswer> answer) {
        switch (random.nextInt(6)) {
            case 0 -> {} // the request is lost
            case 1 -> reach(request, latency(), lost -> {}); // the answer is lost
            case 2 ->
                reach(request, latency() + random.nextLong(5_000 * MILLI), answer); // late, at times after the time-out
            case 3 -> here(latency(), () -> answer.accept(new ConsulAnswer.Failed("500 at once", null)));
            case 4 ->
                reach(
                        request,
                        latency(),
                        hidden -> answer.accept(new ConsulAnswer.Failed("500 after the effect", null)));
            default -> { // twice, the second time late
                reach(request, latency(), answer);
                reach(request, latency() + random.nextLong(3_000 * MILLI), duplicate -> {});
            }
        }
    }

    private void reach(ConsulRequest request, long after, Consumer<ConsulAnswer> answer) {
        world.at(after, () -> {
            ConsulAnswer given = world.consul.carryOut(request);
            world.log(this, request, given);
            here(latency(), () -> answer.accept(given));
        });
    }

    private void arrive(ConsulRequest request, ConsulAnswer answer, AtomicBoolean answered, Runnable threadIsFree) {
        if (answered.compareAndSet(false, true)) {
            threadIsFree.run();
            machine.answer(request, answer);
            startQueued();
        }
    }

    private void watch(ConsulRequest.Watch watch) {
        AtomicBoolean done = new AtomicBoolean();
        if (world.now() < cutOffUntil || (world.strikes() && random.nextBoolean())) {
            here(
                    latency() + random.nextLong(2_000 * MILLI),
                    () -> hear(watch, new ConsulAnswer.Failed("cut", null), done));
            return;
        }
        long lag = world.strikes() ? random.nextLong(3_000 * MILLI) : latency();
        Runnable answer = () -> {
            ConsulAnswer list = world.consul.list();
            here(lag, () -> hear(watch, list, done));
        };
        world.at(latency(), () -> {
            if (watch.index() < world.consul.listIndex()) {
                answer.run();
            } else {
                world.consul.whenChanged(answer);
                world.at(WATCH_WAIT.toNanos(), answer);
            }
        });
    }

    private void hear(ConsulRequest.Watch watch, ConsulAnswer answer, AtomicBoolean done) {
        if (done.compareAndSet(false, true)) {
            machine.answer(watch, answer);
        }
    }

    private long latency() {
        return MILLI / 10 + random.nextLong(world.isCalm() ? MILLI : 20 * MILLI);
    }

    /** Runs the action in this process: later, if it is frozen then. */
    private void here(long after, Runnable action) {
        world.at(after, () -> {
            if (world.now() < frozenUntil) {
                here(frozenUntil - world.now() + random.nextLong(MILLI), action);
            } else {
                action.run();
            }
        });
    }

    // What callers do.

    void freeze(Duration duration) {
        frozenUntil = world.now() + duration.toNanos();
    }

    /** Loses all requests from now. */
    void cutOff(Duration duration) {
        cutOffUntil = world.now() + duration.toNanos();
    }

    void contend(String name, Ticket.Mode mode) {
        here(0, () -> {
            if (!closed) {
                tickets.add(machine.contend(name, mode));
            }
        });
    }

    void cancelOne() {
        here(0, () -> {
            if (!tickets.isEmpty()) {
                Ticket ticket = tickets.remove(random.nextInt(tickets.size()));
                machine.cancel(ticket).ifPresent(late -> {
                    leases.add(late);
                    release(late);
                });
            }
        });
    }

    void releaseOne() {
        here(0, () -> {
            if (!leases.isEmpty()) {
                release(leases.get(random.nextInt(leases.size())));
            }
        });
    }

    void releaseAll() {
        here(0, () -> List.copyOf(leases).forEach(this::release));
    }

    private void release(ConsulLease lease) {
        releases.put(lease, machine.release(lease));
    }

    void close() {
        here(0, () -> {
            closed = true;
            CompletableFuture<Void> unlocked = machine.shutDown();
            Runnable destroy = () -> here(0, () -> {
                CompletableFuture<Void> ignored = machine.destroySessions();
            });
            here(2 * REQUEST_TIMEOUT.toNanos(), destroy);
            CompletableFuture<Void> unused = unlocked.thenRun(destroy);
        });
    }

    /** Moves what was granted from the tickets to the leases. */
    List<ConsulLease> collect() {
        List<ConsulLease> granted = new ArrayList<>();
        tickets.removeIf(ticket -> {
            if (!ticket.result.isDone()) {
                return false;
            }
            if (!ticket.result.isCompletedExceptionally()) {
                ticket.result.join().ifPresent(granted::add);
            }
            return true;
        });
        leases.addAll(granted);
        return granted;
    }

    @Nullable
    ConsulLease held(String key) {
        return leases.stream()
                .filter(lease -> lease.slot.key().equals(key) && isHeld(lease))
                .findFirst()
                .orElse(null);
    }

    /** What {@link ConsulLease#isHeld()} would say, without the declaration of the loss, which somebody else must make. */
    boolean isHeld(ConsulLease lease) {
        return !lease.isMarkedLost() && !lease.isExpiredAt(now());
    }
}
