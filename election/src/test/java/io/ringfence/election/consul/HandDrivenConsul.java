package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.Listeners;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A machine with a clock that stands still until it is moved, and requests that wait until the test answers them. Callbacks
 * run when they are handed over, except that nothing runs by itself.
 */
@NullMarked
final class HandDrivenConsul implements Outbox {
    static final Duration TTL = Duration.ofSeconds(10);
    static final Duration TERM = Duration.ofSeconds(8);
    static final int EPOCH = 0;
    static final String PREFIX = "ringfence/";
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    private final List<ConsulRequest> open = new ArrayList<>();
    private final List<ConsulRequest> sent = new ArrayList<>();
    private final List<Runnable> callbacks = new ArrayList<>();
    private long nanos = -5_000_000_000L;
    private long wallMillis = 1_000_000;
    private int wakes;

    /** What a listener was told, as far as {@link #runCallbacks} has run it. */
    final List<String> heard = new ArrayList<>();

    final ElectionMachine machine;

    HandDrivenConsul() {
        this(null);
    }

    HandDrivenConsul(@Nullable FailureDetection failureDetection) {
        machine = new ElectionMachine(
                new Settings(
                        List.of("http://127.0.0.1:8500"),
                        null,
                        PREFIX,
                        "me",
                        EPOCH,
                        TTL,
                        TTL.minus(TERM),
                        Duration.ofSeconds(15),
                        REQUEST_TIMEOUT,
                        Duration.ofSeconds(10),
                        false,
                        failureDetection),
                () -> new Moment(nanos, wallMillis),
                this,
                new SplittableRandom(42),
                new Listeners(List.of(new Recorder()), this::run));
    }

    @Override
    public void send(ConsulRequest request) {
        open.add(request);
        sent.add(request);
    }

    @Override
    public CompletableFuture<ConsulAnswer> read(String key) {
        throw new UnsupportedOperationException("callers' reads have no place here");
    }

    @Override
    public void run(Runnable action) {
        callbacks.add(action);
    }

    @Override
    public void wake() {
        wakes++; // pass ticks at every step anyway
    }

    /** Runs the callbacks handed over so far. */
    void runCallbacks() {
        List<Runnable> now = List.copyOf(callbacks);
        callbacks.clear();
        now.forEach(Runnable::run);
    }

    /** Moves both clocks on and lets the machine do what is due on the way. */
    void pass(Duration duration) {
        long left = duration.toNanos();
        while (left > 0) {
            long step = Math.max(1, Math.min(left, machine.tick()));
            advance(Duration.ofNanos(step));
            left -= step;
        }
        long unused = machine.tick();
    }

    /** Moves both clocks on without letting the machine do anything: the process is frozen. */
    void freeze(Duration duration) {
        advance(duration);
    }

    private void advance(Duration duration) {
        long before = nanos / 1_000_000;
        nanos += duration.toNanos();
        wallMillis += nanos / 1_000_000 - before;
    }

    void stepWallClock(Duration duration) {
        wallMillis += duration.toMillis();
    }

    <R extends ConsulRequest> boolean isOpen(Class<R> type) {
        return open.stream().anyMatch(type::isInstance);
    }

    /** The oldest unanswered request of that type. */
    <R extends ConsulRequest> R open(Class<R> type) {
        return open.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No " + type.getSimpleName() + " waits for an answer: " + open));
    }

    <R extends ConsulRequest> R answer(Class<R> type, ConsulAnswer answer) {
        R request = open(type);
        answer(request, answer);
        return request;
    }

    void answer(ConsulRequest request, ConsulAnswer answer) {
        open.remove(request);
        machine.answer(request, answer);
    }

    /** All requests of that type since the beginning. */
    <R extends ConsulRequest> List<R> sent(Class<R> type) {
        return sent.stream().filter(type::isInstance).map(type::cast).collect(Collectors.toList());
    }

    void forgetSent() {
        sent.clear();
        wakes = 0;
    }

    /** How often the machine has asked for a tick at once since {@link #forgetSent}. */
    int wakes() {
        return wakes;
    }

    Ticket contend(String name) {
        return machine.contend(name, Ticket.Mode.WAIT);
    }

    /** Wins the election with this token on a session of that id, made and locked in no time. */
    ConsulLease win(String name, String session, long token) {
        Ticket ticket = contend(name);
        if (isOpen(ConsulRequest.CreateSession.class)) {
            answer(ConsulRequest.CreateSession.class, new ConsulAnswer.SessionCreated(session));
        }
        answer(ConsulRequest.Read.class, new ConsulAnswer.KeyRead(KeyState.absent(PREFIX + name, 1)));
        answer(ConsulRequest.Lock.class, new ConsulAnswer.KeyChanged(token));
        return leaseOf(ticket);
    }

    void renewed() {
        answer(ConsulRequest.RenewSession.class, new ConsulAnswer.Done());
    }

    /** The watch reports these keys, as of that index. */
    void watchSays(long index, KeyState... keys) {
        answer(ConsulRequest.Watch.class, new ConsulAnswer.KeyList(index, List.of(keys), 100));
    }

    void readSays(KeyState state) {
        answer(ConsulRequest.Read.class, new ConsulAnswer.KeyRead(state));
    }

    static ConsulLease leaseOf(Ticket ticket) {
        assertThat(ticket.result).isCompleted();
        return ticket.result.join().orElseThrow();
    }

    static ConsulAnswer failed() {
        return new ConsulAnswer.Failed("no answer", null);
    }

    static ConsulAnswer refused(ConsulAnswer.Refusal refusal) {
        return new ConsulAnswer.Refused(refusal, refusal.name());
    }

    private final class Recorder implements ElectionListener {
        @Override
        public void onAcquired(Lease lease) {
            heard.add("acquired " + lease.fencingToken());
        }

        @Override
        public void onLost(Lease lease, LossReason reason) {
            heard.add("lost " + lease.fencingToken() + " " + reason);
        }
    }
}
