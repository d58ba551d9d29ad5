package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops and listeners on a real Consul. */
@ExtendWith(SharedServers.class)
@Timeout(120)
class LeaderLoopIT {
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final LeaderLoop.Options QUICK =
            LeaderLoop.Options.defaults().backoff(Duration.ofMillis(1), Duration.ofMillis(50));

    private final ConsulServer server;
    private final Consul consul;
    private final String name;
    private final List<Elections> open = new ArrayList<>();
    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final CountDownLatch neverEnds = new CountDownLatch(1);

    LeaderLoopIT(ConsulServer server, TestInfo test) {
        this.server = server;
        this.consul = new Consul(server);
        this.name = test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void close() {
        neverEnds.countDown();
        open.forEach(Elections::close);
    }

    private Elections opened(ConsulElections.Builder builder) {
        Elections elections = builder.build();
        open.add(elections);
        return elections;
    }

    /** Works until it is interrupted, and winds down long enough for somebody to see what Consul says meanwhile. */
    private void work(Lease lease) throws InterruptedException {
        events.add("working");
        try {
            neverEnds.await();
        } catch (InterruptedException e) {
            events.add("interrupted, " + lease.lossReason().map(Enum::name).orElse("held"));
            for (int i = 0; i < 5; i++) {
                TimeUnit.MILLISECONDS.sleep(50);
                events.add(consul.isLocked(name) ? "locked" : "unlocked");
            }
            events.add("ended");
            throw e;
        }
    }

    private void awaitEvent(String event) {
        await().atMost(SOON.multipliedBy(4)).until(() -> events.contains(event));
    }

    @Test
    void keepsTheKeyUntilTheWorkHasEnded_whenClosed() throws Exception {
        LeaderLoop loop = opened(consul.quick()).election(name).lead(this::work, QUICK);
        awaitEvent("working");
        Election other = opened(consul.quick()).election(name);
        CompletableFuture<Boolean> next = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try (Lease lease = other.acquire()) {
                next.complete(lease.isHeld() && events.contains("ended"));
            } catch (InterruptedException e) {
                next.completeExceptionally(e);
            }
        });
        waiting.start();
        loop.close();
        assertThat(events)
                .startsWith("working", "interrupted, RELEASED", "locked")
                .endsWith("locked", "ended");
        assertThat(events).doesNotContain("unlocked");
        assertThat(next.get(5, TimeUnit.SECONDS))
                .as("nobody else led before the work had ended")
                .isTrue();
        waiting.join();
    }

    @Test
    void reportsShutdown_andKeepsTheKeyUntilTheWorkHasEnded_whenTheElectionsAreClosed() throws Exception {
        Elections elections = opened(consul.quick());
        elections.election(name).lead(this::work, QUICK);
        Lease plain = elections.election(name + "/plain").acquire();
        awaitEvent("working");
        elections.close();
        assertThat(events)
                .startsWith("working", "interrupted, SHUTDOWN", "locked")
                .endsWith("locked", "ended");
        assertThat(consul.isLocked(name)).isFalse();
        assertThat(plain.lossReason()).contains(LossReason.SHUTDOWN);
    }

    @Test
    void unlocksAnyway_whenTheWorkOutlastsTheBound_andOnlyThenAnotherLeads() throws Exception {
        LeaderLoop loop = opened(consul.quick())
                .election(name)
                .lead(this::ignoreInterrupts, QUICK.stopTimeout(Duration.ofMillis(500)));
        awaitEvent("working");
        Election other = opened(consul.quick()).election(name);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(loop::close);
        awaitEvent("ignored");
        long interrupted = System.nanoTime();
        try (Lease lease = other.acquire()) {
            assertThat(Duration.ofNanos(System.nanoTime() - interrupted)).isGreaterThan(Duration.ofMillis(300));
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(closed).succeedsWithin(SOON);
        assertThat(events).doesNotContain("ended");
    }

    private void ignoreInterrupts(Lease lease) {
        events.add("working");
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

    @Test
    void interruptsTheWork_whenTheSessionIsDestroyed_andLeadsAgain() {
        AtomicInteger terms = new AtomicInteger();
        opened(consul.quick())
                .election(name)
                .lead(
                        lease -> {
                            events.add("term " + terms.incrementAndGet());
                            try {
                                neverEnds.await();
                            } finally {
                                events.add("ended " + lease.lossReason().orElseThrow());
                            }
                        },
                        QUICK);
        awaitEvent("term 1");
        server.destroySession(consul.session(name));
        awaitEvent("term 2");
        assertThat(events).containsExactly("term 1", "ended SESSION_EXPIRED", "term 2");
    }

    @Test
    void leadsAgain_whenTheWorkReturnsOrThrows() {
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        opened(consul.quick())
                .election(name)
                .lead(
                        lease -> {
                            tokens.add(lease.requireToken().value());
                            if (tokens.size() % 2 == 0) {
                                throw new IllegalStateException("thrown by the work of a test");
                            }
                        },
                        QUICK);
        await().atMost(SOON).until(() -> tokens.size() >= 10);
        assertThat(new ArrayList<>(tokens)).isSorted().doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void backsOffOnlyAfterItHasReleased_whenTheWorkReturnsOrThrowsAtOnce(boolean throwing) throws Exception {
        Duration backoff = Duration.ofMinutes(1);
        AtomicInteger terms = new AtomicInteger();
        opened(consul.quick())
                .election(name)
                .lead(
                        lease -> {
                            terms.incrementAndGet();
                            if (throwing) {
                                throw new IllegalStateException("thrown by the work of a test");
                            }
                        },
                        QUICK.backoff(backoff, backoff));
        await().atMost(SOON).until(() -> terms.get() == 1);
        try (Lease other =
                opened(consul.quick()).election(name).tryAcquire(SOON).orElseThrow()) {
            assertThat(other.isHeld()).isTrue();
        }
        await("nobody else wants it now, and it still backs off")
                .during(Duration.ofSeconds(2))
                .atMost(SOON)
                .until(() -> terms.get() == 1 && !consul.isLocked(name));
    }

    @Test
    void neverTwoWorksAtOnce_over50Losses() {
        AtomicInteger working = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger terms = new AtomicInteger();
        Elections elections = opened(consul.quick());
        LeaderLoop.Work work = lease -> {
            most.accumulateAndGet(working.incrementAndGet(), Math::max);
            terms.incrementAndGet();
            try {
                neverEnds.await();
            } finally {
                try {
                    TimeUnit.MILLISECONDS.sleep(20);
                } finally {
                    working.decrementAndGet();
                }
            }
        };
        LeaderLoop loop = elections.election(name).lead(work, QUICK);
        for (int round = 1; round <= 50; round++) {
            int expected = round;
            await().atMost(SOON).pollInterval(Duration.ofMillis(5)).until(() -> terms.get() >= expected);
            switch (round % 5) {
                case 0 -> server.destroySession(consul.session(name));
                case 1 -> server.deleteKey("ringfence/" + name);
                case 2 -> consul.put(name, "?release=" + consul.session(name), "");
                case 3 -> {
                    loop.close();
                    assertThat(working).hasValue(0);
                    loop = elections.election(name).lead(work, QUICK);
                }
                default -> {
                    String foreign = consul.foreignSession();
                    consul.passOn(name, consul.session(name), foreign);
                    server.destroySession(foreign);
                }
            }
        }
        assertThat(most).hasValue(1);
    }

    @Test
    void closedByItsOwnWork_itUnlocksWhenTheWorkHasEnded() {
        CompletableFuture<LeaderLoop> self = new CompletableFuture<>();
        self.complete(opened(consul.quick())
                .election(name)
                .lead(
                        lease -> {
                            self.get().close();
                            work(lease);
                        },
                        QUICK));
        awaitEvent("ended");
        self.join().close();
        assertThat(events)
                .startsWith("working", "interrupted, RELEASED", "locked")
                .endsWith("locked", "ended");
        assertThat(consul.isLocked(name)).isFalse();
    }

    @Test
    void theElectionsClosedByTheWorkOfALoop_doNotWaitForThemselves() {
        Elections elections = opened(consul.quick());
        CompletableFuture<Boolean> held = new CompletableFuture<>();
        elections
                .election(name)
                .lead(
                        lease -> {
                            elections.close();
                            held.complete(lease.isHeld());
                        },
                        QUICK);
        assertThat(held).succeedsWithin(SOON).isEqualTo(false);
        elections.close();
        assertThat(consul.isLocked(name)).isFalse();
    }

    @Test
    void closingTheElectionsFromTheWork_whileSomebodyElseClosesThem_waitsForNobody() {
        Elections elections = opened(consul.quick());
        elections
                .election(name)
                .lead(
                        lease -> {
                            events.add("working");
                            try {
                                neverEnds.await();
                            } catch (InterruptedException e) {
                                elections.close();
                                events.add("ended");
                            }
                        },
                        QUICK);
        awaitEvent("working");
        long began = System.nanoTime();
        elections.close();
        assertThat(events).containsExactly("working", "ended");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SOON);
    }

    @Test
    void listenersThatBlockOrThrow_delayNobody() throws Exception {
        Elections elections = opened(consul.quick()
                .listener(new ElectionListener() {
                    @Override
                    public void onAcquired(Lease lease) {
                        while (neverEnds.getCount() > 0) {
                            try {
                                neverEnds.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                                return;
                            }
                        }
                    }

                    @Override
                    public void onLost(Lease lease, LossReason reason) {
                        events.add("at last " + reason);
                    }
                })
                .listener(new ElectionListener() {
                    @Override
                    public void onAcquired(Lease lease) {
                        throw new IllegalStateException("thrown by the listener of a test");
                    }

                    @Override
                    public void onLost(Lease lease, LossReason reason) {
                        throw new IllegalStateException("thrown by the listener of a test");
                    }
                })
                .listener(new ElectionListener() {
                    @Override
                    public void onAcquired(Lease lease) {
                        events.add("acquired " + lease.fencingToken());
                    }

                    @Override
                    public void onLost(Lease lease, LossReason reason) {
                        events.add("lost " + lease.fencingToken() + " " + reason);
                    }
                }));
        Lease lease = elections.election(name).acquire();
        await().during(Duration.ofSeconds(11)).atMost(Duration.ofSeconds(15)).until(lease::isHeld);
        server.destroySession(consul.session(name));
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON).isEqualTo(LossReason.SESSION_EXPIRED);
        awaitEvent("lost " + lease.fencingToken() + " SESSION_EXPIRED");
        Optional<Lease> next = elections.election(name).tryAcquire(SOON);
        next.orElseThrow().close();
        awaitEvent("lost " + next.orElseThrow().fencingToken() + " RELEASED");
        assertThat(events)
                .containsExactly(
                        "acquired " + lease.fencingToken(),
                        "lost " + lease.fencingToken() + " SESSION_EXPIRED",
                        "acquired " + next.orElseThrow().fencingToken(),
                        "lost " + next.orElseThrow().fencingToken() + " RELEASED");
        elections.close();
        neverEnds.countDown();
        awaitEvent("at last SESSION_EXPIRED");
        awaitEvent("at last RELEASED");
    }
}
