package io.ringfence.election.consul;

import static io.ringfence.election.consul.SimulatedTime.MILLI;
import static io.ringfence.election.consul.SimulatedTime.SECOND;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What is between one process and Consul: a few threads, and a network that loses, delays and repeats. */
final class SimulatedNetwork {
    private static final int CONTROL_THREADS = 2;
    private static final long WATCH_WAIT = SimulatedProcess.WATCH_WAIT.toNanos();
    private static final long WATCH_TIMEOUT = WATCH_WAIT + WATCH_WAIT / 16 + 8 * SECOND;
    private static final long BLIND = WATCH_WAIT + WATCH_WAIT / 16 + SECOND;
    private static final long TIMEOUT = SimulatedProcess.REQUEST_TIMEOUT.toNanos();
    private static final ConsulAnswer TIMED_OUT = new ConsulAnswer.Failed("timed out", null);
    private static final ConsulAnswer ERROR = new ConsulAnswer.Failed("500", null);
    private static final ConsulAnswer DENIED = new ConsulAnswer.Denied("403");
    private static final FaultKind[] REQUEST_FAULTS = {
        FaultKind.REQUEST_LOST,
        FaultKind.ANSWER_LOST,
        FaultKind.ANSWER_LATE,
        FaultKind.ERROR_WITHOUT_EFFECT,
        FaultKind.ERROR_WITH_EFFECT,
        FaultKind.REQUEST_TWICE
    };
    private static final FaultKind[] WATCH_FAULTS = {
        FaultKind.WATCH_CUT, FaultKind.WATCH_LATE, FaultKind.WATCH_STALE, FaultKind.KEY_HIDDEN
    };

    /** Some threads that each carry one request at a time. */
    private static final class Pool {
        private final Deque<Call> queue = new ArrayDeque<>();
        private int free;

        Pool(int threads) {
            free = threads;
        }
    }

    /** One request under way. */
    private static final class Call {
        private final ConsulRequest request;
        private final Consumer<ConsulAnswer> listener;
        private final Pool pool;
        private long sentAt;
        private boolean answered;

        Call(ConsulRequest request, Consumer<ConsulAnswer> listener, Pool pool) {
            this.request = request;
            this.listener = listener;
            this.pool = pool;
        }
    }

    private final SimulatedProcess process;
    private final Simulation world;
    private final SplittableRandom random;
    private final Pool control = new Pool(CONTROL_THREADS);
    private final Pool renewing = new Pool(1);
    private final Pool watching = new Pool(1);
    private long cutOffUntil;
    private long deniedUntil;
    private long slowUntil;

    SimulatedNetwork(SimulatedProcess process, SplittableRandom random) {
        this.process = process;
        this.world = process.world;
        this.random = random;
    }

    /** Everything fails to arrive for so long. */
    void cutOff(long nanos) {
        cutOffUntil = world.time.now() + nanos;
        world.struck(FaultKind.CUT_OFF, nanos + TIMEOUT);
    }

    /** All answers are late for so long. */
    void slowDown(long nanos) {
        slowUntil = world.time.now() + nanos;
        world.struck(FaultKind.SLOW, nanos + TIMEOUT);
    }

    /** Everything is refused for so long. */
    void deny(long nanos) {
        deniedUntil = world.time.now() + nanos;
        world.struck(FaultKind.ACCESS_DENIED, nanos + TIMEOUT);
    }

    void send(ConsulRequest request, Consumer<ConsulAnswer> listener) {
        Pool pool = control;
        if (request instanceof ConsulRequest.Watch) {
            pool = watching;
        } else if (request instanceof ConsulRequest.RenewSession) {
            pool = renewing;
        }
        pool.queue.add(new Call(request, listener, pool));
        startQueued(pool);
    }

    private void startQueued(Pool pool) {
        while (pool.free > 0 && !pool.queue.isEmpty()) {
            pool.free--;
            Call call = pool.queue.remove();
            call.sentAt = world.time.now();
            if (call.request instanceof ConsulRequest.Watch watch) {
                watch(call, watch);
            } else {
                start(call);
            }
        }
    }

    private void start(Call call) {
        if (call.sentAt < cutOffUntil) {
            answer(call, TIMEOUT, TIMED_OUT);
        } else if (call.sentAt < deniedUntil) {
            answer(call, latency(), DENIED);
        } else if (world.strikes()) {
            fault(call, REQUEST_FAULTS[random.nextInt(REQUEST_FAULTS.length)]);
        } else {
            reach(call, latency(), given -> answer(call, latency() + slowness(), given));
        }
    }

    private void fault(Call call, FaultKind kind) {
        if (random.nextInt(8) == 0) { // the process stops while the request is under way
            reach(call, latency(), given -> answer(call, latency(), given));
            process.freeze(Disturbance.outage(random));
            return;
        }
        world.struck(kind, TIMEOUT);
        switch (kind) {
            case REQUEST_LOST -> answer(call, TIMEOUT, TIMED_OUT);
            case ANSWER_LOST -> {
                reach(call, latency(), lost -> {});
                answer(call, TIMEOUT, TIMED_OUT);
            }
            case ANSWER_LATE -> {
                long late = random.nextLong(4 * TIMEOUT);
                world.struck(kind, late);
                reach(call, latency() + random.nextLong(late + 1), given -> {
                    long left = call.sentAt + late - world.time.now();
                    answer(call, Math.max(left, 0), given);
                });
                answer(call, TIMEOUT, TIMED_OUT);
            }
            case ERROR_WITHOUT_EFFECT -> answer(call, latency(), ERROR);
            case ERROR_WITH_EFFECT -> reach(call, latency(), hidden -> answer(call, latency(), ERROR));
            default -> {
                reach(call, latency(), given -> answer(call, latency(), given));
                long late = random.nextLong(random.nextBoolean() ? SECOND : 30 * SECOND);
                world.struck(kind, late);
                reach(call, latency() + late, duplicate -> {});
            }
        }
    }

    /** Consul gets the request after a while and hands the answer to the network. */
    private void reach(Call call, long after, Consumer<ConsulAnswer> answer) {
        world.time.after(after, () -> {
            SimulatedConsul consul = world.consul;
            if (!consul.hasNoLeader()) {
                ConsulAnswer given = consul.carryOut(process, call.request);
                world.carriedOut(process, call.request, given);
                answer.accept(given);
            } else if (random.nextInt(4) == 0) { // it was on its way to the next leader, who carries it out
                world.struck(FaultKind.ERROR_WITH_EFFECT, TIMEOUT);
                reach(call, consul.leaderAt() - world.time.now() + latency(), unheard -> {});
                answer(call, TIMEOUT, TIMED_OUT);
            } else {
                answer(call, random.nextLong(TIMEOUT), ERROR);
            }
        });
    }

    private void answer(Call call, long after, ConsulAnswer answer) {
        process.later(after, () -> {
            if (call.answered) {
                return;
            }
            call.answered = true;
            call.pool.free++;
            // A process that was frozen meanwhile may find the answer or the time-out first.
            boolean late = world.time.now() - call.sentAt > TIMEOUT && call.pool != watching && random.nextBoolean();
            ConsulAnswer heard = late ? TIMED_OUT : answer;
            world.log(process, " hears ", heard, " to ", call.request);
            call.listener.accept(heard);
            startQueued(call.pool);
        });
    }

    // The watch.

    private void watch(Call call, ConsulRequest.Watch watch) {
        FaultKind fault = world.strikes() ? WATCH_FAULTS[random.nextInt(WATCH_FAULTS.length)] : null;
        if (call.sentAt < cutOffUntil) {
            answer(call, TIMEOUT, TIMED_OUT);
        } else if (call.sentAt < deniedUntil) {
            answer(call, latency(), DENIED);
        } else if (fault == FaultKind.WATCH_CUT) {
            long hangs = random.nextBoolean() ? random.nextLong(WATCH_TIMEOUT) : latency();
            world.struck(fault, hangs);
            answer(call, hangs, TIMED_OUT);
        } else {
            world.time.after(latency(), () -> block(call, watch.index(), fault));
        }
    }

    private void block(Call call, long index, @Nullable FaultKind fault) {
        SimulatedKeys keys = world.consul.keys;
        if (world.consul.hasNoLeader()) {
            answer(call, random.nextLong(TIMEOUT), ERROR);
        } else if (index < keys.listIndex()) {
            answerList(call, fault);
        } else {
            Runnable stop = keys.whenNewer(index, () -> answerList(call, fault));
            world.time.after(WATCH_WAIT + random.nextLong(WATCH_WAIT / 16), () -> {
                stop.run();
                answerList(call, fault);
            });
        }
    }

    private void answerList(Call call, @Nullable FaultKind fault) {
        if (call.answered) {
            return;
        }
        SimulatedKeys keys = world.consul.keys;
        ConsulAnswer.KeyList list = keys.list();
        long lag = latency();
        if (fault != null && world.isFaulty()) {
            switch (fault) {
                case WATCH_LATE -> lag = random.nextLong(random.nextBoolean() ? SECOND : WATCH_TIMEOUT);
                case WATCH_STALE -> list = keys.listBefore(1 + random.nextInt(3));
                default -> list = hiding(list);
            }
            world.struck(fault, lag + BLIND); // until the next list, if nothing wakes the next watch
        }
        if (world.time.now() < cutOffUntil) {
            answer(call, WATCH_TIMEOUT, TIMED_OUT);
            world.struck(FaultKind.WATCH_CUT, WATCH_TIMEOUT);
        } else {
            answer(call, lag, list);
        }
    }

    private ConsulAnswer.KeyList hiding(ConsulAnswer.KeyList list) {
        return new ConsulAnswer.KeyList(
                list.index(),
                list.keys().stream().filter(key -> random.nextBoolean()).toList(),
                list.bytes());
    }

    private long slowness() {
        return world.time.now() < slowUntil ? TIMEOUT / 4 + random.nextLong(TIMEOUT / 2) : 0;
    }

    private long latency() {
        return MILLI / 10 + random.nextLong(world.isFaulty() ? 20 * MILLI : MILLI);
    }
}
