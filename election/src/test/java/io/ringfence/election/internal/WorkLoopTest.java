package io.ringfence.election.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.ElectionException;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.FencingToken;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** The loop with leases that the test ends; its threads and pauses are real. */
@Timeout(30)
@ResourceLock(Resources.SYSTEM_ERR)
class WorkLoopTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final LeaderLoop.Options QUICK = LeaderLoop.Options.defaults()
            .stopTimeout(Duration.ofSeconds(20))
            .backoff(Duration.ofMillis(1), Duration.ofMillis(10));

    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final Deque<FakeLease> leases = new ConcurrentLinkedDeque<>();
    private final CountDownLatch neverEnds = new CountDownLatch(1);
    private final ExecutorService listening = Executors.newCachedThreadPool();
    private final Loops loops =
            new Loops(new NamedThreads(Executors.defaultThreadFactory()), listening, Duration.ofSeconds(1));

    @AfterEach
    void stop() {
        neverEnds.countDown();
        loops.stop();
        listening.shutdownNow();
    }

    private FakeLease acquire() throws InterruptedException {
        if (Thread.interrupted()) {
            events.add("interrupted while contending");
            throw new InterruptedException();
        }
        FakeLease lease = new FakeLease(leases.size() + 1, events);
        leases.add(lease);
        return lease;
    }

    private LeaderLoop start(LeaderLoop.Work work) {
        return start(work, QUICK);
    }

    private LeaderLoop start(LeaderLoop.Work work, LeaderLoop.Options options) {
        return loops.start("job", work, options, this::acquire);
    }

    /** Works until it is interrupted, then a little longer. */
    private void work(Lease lease) throws InterruptedException {
        events.add("working " + lease.fencingToken());
        try {
            neverEnds.await();
        } catch (InterruptedException e) {
            events.add(lease.isHeld() ? "interrupted while held" : "interrupted");
            TimeUnit.NANOSECONDS.sleep(SHORT.toNanos());
            events.add("ended");
            throw e;
        }
    }

    private void ignoreInterrupts(Lease lease) {
        events.add("working " + lease.fencingToken());
        boolean ended = false;
        while (!ended) {
            try {
                neverEnds.await();
                ended = true;
            } catch (InterruptedException e) {
                events.add("ignored");
            }
        }
        events.add("ended");
    }

    private void awaitEvent(String event) {
        await().until(() -> events.contains(event));
    }

    @Test
    void losesThenInterruptsThenWaitsThenUnlocks_whenClosed() {
        LeaderLoop loop = start(this::work);
        awaitEvent("working 1");
        loop.close();
        assertThat(events)
                .containsExactly("acquired 1", "working 1", "lost 1 RELEASED", "interrupted", "ended", "unlocked 1");
        loop.close();
        assertThat(events).hasSize(6);
    }

    @Test
    void reportsShutdown_andWaitsForTheWork_whenAllAreStopped() {
        start(this::work);
        awaitEvent("working 1");
        loops.stop();
        assertThat(events)
                .containsExactly("acquired 1", "working 1", "lost 1 SHUTDOWN", "interrupted", "ended", "unlocked 1");
        assertThatIllegalStateException().isThrownBy(() -> start(this::work)).withMessageContaining("closed");
    }

    @Test
    void interruptsTheWork_whenTheLeaseIsLost_andStartsAgainOnlyAfterItEnded() {
        start(this::work);
        awaitEvent("working 1");
        leases.getLast().end(LossReason.LOCK_DELETED);
        awaitEvent("working 2");
        assertThat(events)
                .containsExactly(
                        "acquired 1",
                        "working 1",
                        "lost 1 LOCK_DELETED",
                        "interrupted",
                        "ended",
                        "unlocked 1",
                        "acquired 2",
                        "working 2");
    }

    @Test
    void unlocks_beforeItContendsAgain_whateverTheWorkThrows() {
        AtomicInteger term = new AtomicInteger();
        start(lease -> {
            switch (term.incrementAndGet()) {
                case 1 -> throw new Exception("checked");
                case 2 -> throw new IllegalStateException("unchecked");
                case 3 -> overflow(0);
                case 4 -> throw new AssertionError("an error");
                case 5 -> throw new InterruptedException("not ours");
                case 6 -> Thread.currentThread().interrupt();
                default -> work(lease);
            }
        });
        awaitEvent("working 7");
        List<String> expected = new ArrayList<>();
        for (int i = 1; i <= 6; i++) {
            expected.addAll(List.of("acquired " + i, "lost " + i + " RELEASED", "unlocked " + i));
        }
        expected.addAll(List.of("acquired 7", "working 7"));
        assertThat(events).containsExactlyElementsOf(expected);
    }

    private static int overflow(int depth) {
        return depth < 0 ? 0 : overflow(depth + 1) + 1;
    }

    @Test
    void startsTheWorkWithAClearInterruptFlag() {
        Queue<Boolean> flags = new ConcurrentLinkedQueue<>();
        start(lease -> {
            flags.add(Thread.currentThread().isInterrupted());
            if (flags.size() % 2 == 0) {
                leases.getLast().end(LossReason.SESSION_EXPIRED);
            }
            Thread.currentThread().interrupt();
        });
        await().until(() -> flags.size() > 50);
        assertThat(flags).containsOnly(false);
        assertThat(events).doesNotContain("interrupted while contending", "did not wait for the unlock");
    }

    @Test
    void goesOn_whenItCannotContend() {
        AtomicInteger attempts = new AtomicInteger();
        loops.start("job", this::work, QUICK, () -> {
            switch (attempts.incrementAndGet()) {
                case 1 -> throw new ElectionException("no answer", null);
                case 2 -> throw new TokenRegressionException("job", new FencingToken(1), new FencingToken(2));
                case 3 -> throw new IllegalStateException("leads already");
                case 4 -> throw new AssertionError("a bug");
                case 5 -> throw new InterruptedException("somebody else");
                default -> {
                    return acquire();
                }
            }
        });
        awaitEvent("working 1");
        assertThat(attempts).hasValue(6);
    }

    @Test
    void pausesLongerAndLonger_whenTheWorkReturnsAtOnce() {
        long began = System.nanoTime();
        LeaderLoop.Options slow = QUICK.backoff(Duration.ofMillis(100), Duration.ofMillis(400));
        start(lease -> {}, slow);
        await().until(() -> leases.size() == 5);
        // four pauses of at least half of 100, 200, 400 and 400 ms
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(550));
        assertThat(leases).filteredOn(FakeLease::isUnlocked).hasSizeGreaterThanOrEqualTo(4);
    }

    @Test
    void logsAnErrorAndUnlocks_whenTheWorkOutlastsTheBound_andStartsNoSecondTerm() {
        LogCapture log = LogCapture.start();
        start(this::ignoreInterrupts, QUICK.stopTimeout(SHORT));
        awaitEvent("working 1");
        leases.getLast().end(LossReason.DEADLINE_EXCEEDED);
        awaitEvent("unlocked 1");
        assertThat(log.stop()).contains("ERROR", "ringfence.election=job", "still runs PT0.2S", "ignoreInterrupts");
        await().during(SHORT).until(() -> leases.size() == 1);
        assertThat(events)
                .containsExactly("acquired 1", "working 1", "lost 1 DEADLINE_EXCEEDED", "ignored", "unlocked 1");
        neverEnds.countDown();
        awaitEvent("acquired 2");
        assertThat(events)
                .startsWith("acquired 1", "working 1", "lost 1 DEADLINE_EXCEEDED", "ignored", "unlocked 1", "ended");
    }

    @Test
    void closeIsBounded_andNoLoopReplacesTheOneWhoseWorkStillRuns() {
        LeaderLoop loop = start(this::ignoreInterrupts, QUICK.stopTimeout(SHORT));
        awaitEvent("working 1");
        loop.close();
        assertThat(events).containsExactly("acquired 1", "working 1", "lost 1 RELEASED", "ignored", "unlocked 1");
        loop.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> start(this::work))
                .withMessageContaining("not")
                .withMessageContaining("'job'");
        neverEnds.countDown();
        awaitEvent("ended");
        await().untilAsserted(() -> start(this::work));
        awaitEvent("acquired 2");
    }

    @Test
    void closeIsBounded_whenTheWorkOverranAlready() {
        LeaderLoop loop = start(this::ignoreInterrupts, QUICK.stopTimeout(SHORT));
        awaitEvent("working 1");
        leases.getLast().end(LossReason.LOCK_TAKEN);
        awaitEvent("unlocked 1");
        loop.close();
        assertThat(events).doesNotContain("ended");
    }

    @Test
    void canBeClosedByItsOwnWork() {
        CompletableFuture<LeaderLoop> self = new CompletableFuture<>();
        CompletableFuture<Boolean> lockedAfterClose = new CompletableFuture<>();
        self.complete(start(lease -> {
            events.add("working 1");
            self.get().close();
            lockedAfterClose.complete(!lease.isHeld() && !leases.getLast().isUnlocked());
            work(lease);
        }));
        awaitEvent("unlocked 1");
        self.join().close();
        assertThat(lockedAfterClose).isCompletedWithValue(true);
        assertThat(events).containsSubsequence("lost 1 RELEASED", "interrupted", "ended", "unlocked 1");
        assertThat(leases).hasSize(1);
    }

    @Test
    void unlocksInTheEnd_whenTheWorkClosedItselfAndGoesOn() {
        CompletableFuture<LeaderLoop> self = new CompletableFuture<>();
        self.complete(start(
                lease -> {
                    self.get().close();
                    ignoreInterrupts(lease);
                },
                QUICK.stopTimeout(SHORT)));
        awaitEvent("unlocked 1");
        assertThat(events).doesNotContain("ended");
    }

    @Test
    void twoLoopsThatCloseEachOtherDoNotWaitForEver() {
        CompletableFuture<LeaderLoop> one = new CompletableFuture<>();
        CompletableFuture<LeaderLoop> two = new CompletableFuture<>();
        CountDownLatch both = new CountDownLatch(2);
        LeaderLoop.Options options = QUICK.stopTimeout(SHORT);
        one.complete(loops.start("one", lease -> closeOther(two, both), options, this::acquire));
        two.complete(loops.start("two", lease -> closeOther(one, both), options, this::acquire));
        one.join().close();
        two.join().close();
    }

    private static void closeOther(CompletableFuture<LeaderLoop> other, CountDownLatch both) throws Exception {
        both.countDown();
        both.await();
        other.get().close();
    }

    @Test
    void concurrentClosesAllWait() throws Exception {
        LeaderLoop loop = start(this::work);
        awaitEvent("working 1");
        List<CompletableFuture<Boolean>> closes = IntStream.range(0, 8)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> {
                            loop.close();
                            return events.contains("unlocked 1");
                        },
                        listening))
                .toList();
        for (CompletableFuture<Boolean> close : closes) {
            assertThat(close.get()).isTrue();
        }
        assertThat(events).hasSize(6);
    }

    @Test
    void anInterruptDoesNotShortenTheClose_andStaysSet() {
        LeaderLoop loop = start(this::work);
        awaitEvent("working 1");
        Thread.currentThread().interrupt();
        loop.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(events).contains("unlocked 1");
    }

    @Test
    void stopsAtOnce_whileItContendsOrPauses() {
        LeaderLoop contending = loops.start("contends", this::work, QUICK, () -> {
            events.add("contending");
            neverEnds.await();
            throw new AssertionError("not before the test has ended");
        });
        awaitEvent("contending");
        contending.close();

        LeaderLoop pausing = start(lease -> {}, QUICK.backoff(Duration.ofHours(1), Duration.ofHours(1)));
        awaitEvent("unlocked 1");
        pausing.close();
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("ringfence-loop-contends")));
    }

    @Test
    void doesNoWork_whenTheLeaseWasLostBefore() {
        AtomicInteger attempts = new AtomicInteger();
        loops.start("job", this::work, QUICK, () -> {
            FakeLease lease = acquire();
            if (attempts.incrementAndGet() == 1) {
                lease.end(LossReason.SESSION_EXPIRED);
            }
            return lease;
        });
        awaitEvent("working 2");
        assertThat(events).containsSubsequence("lost 1 SESSION_EXPIRED", "unlocked 1", "acquired 2");
    }

    @Test
    void tellsItsListener() {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        start(lease -> {}, QUICK.listener(new ElectionListener() {
            @Override
            public void onAcquired(Lease lease) {
                heard.add("acquired " + lease.fencingToken());
            }

            @Override
            public void onLost(Lease lease, LossReason reason) {
                heard.add("lost " + lease.fencingToken() + " " + reason);
            }
        }));
        await().until(() -> heard.size() >= 4);
        assertThat(heard).startsWith("acquired 1", "lost 1 RELEASED", "acquired 2", "lost 2 RELEASED");
    }

    @Test
    void itsThreadsAreDaemonsNamedAfterTheirJob() {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        start(lease -> {
            thread.complete(Thread.currentThread());
            work(lease);
        });
        assertThat(thread.join().isDaemon()).isTrue();
        assertThat(thread.join().getName()).isEqualTo("ringfence-loop-job");
    }
}
