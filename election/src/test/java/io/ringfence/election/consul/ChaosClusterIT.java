package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three contenders for one key, and one server after the other that is killed, frozen or restarted at random. */
class ChaosClusterIT extends OnACluster {
    private static final Duration FAULTS = Duration.ofSeconds(45);
    private static final Duration RECOVERY = Duration.ofSeconds(90);
    private static final int LONGEST_FAULT_MILLIS = 5_000;
    private static final int LONGEST_PAUSE_MILLIS = 1_500;
    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private final List<ChaosContender> contenders = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private ChaosLog log = new ChaosLog();

    @BeforeEach
    void startAfresh() {
        log = new ChaosLog();
        contenders.clear();
        threads.clear();
    }

    @Test
    void atMostOneLeads_tokensGrow_andItGoesOn_whateverHappensToOneServerAtATime() throws Exception {
        long seed = Long.getLong("chaos.seed", System.nanoTime());
        System.out.println("Chaos: -Dchaos.seed=" + seed);
        start("chaos", ConsulElections.Builder.DEFAULT_LOCK_DELAY, UnaryOperator.identity());
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> looking = async(() -> lookUntil(over));

        makeFaults(new SplittableRandom(seed));
        makeALoss();
        int terms = log.terms();
        await("the next leader, at the servers that are left").atMost(RECOVERY).until(() -> log.terms() > terms);
        cluster.heal();
        await().atMost(RECOVERY).until(() -> log.terms() > terms + 3);
        System.out.println("Chaos: " + log);

        stop();
        over.set(true);
        assertThat(looking).succeedsWithin(SOON);
        assertThat(log.faults()).isEmpty();
        assertThat(log.looksAtOne()).isGreaterThan(1_000);
        assertNothingIsLeftBehind("chaos");
    }

    @Test
    void twoLeadersAtOnceAreSeen_whenOneOfThemDoesNotHearOfItsLoss() throws Exception {
        start("chaos-control", Duration.ZERO, DeafLease::new);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> looking = async(() -> lookUntil(over));

        contenders.get(2).cling(true);
        await().atMost(RECOVERY).until(() -> contenders.get(2).clung().isPresent());
        int terms = log.terms();
        cluster.server(2).freeze();
        await("another leader, when the session has ended").atMost(RECOVERY).until(() -> log.terms() > terms);
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(log.faults())
                        .anySatisfy(fault -> assertThat(fault).startsWith("two leases were held at once")));
        cluster.heal();
        stop();
        over.set(true);
        assertThat(looking).succeedsWithin(SOON);
    }

    /** Three contenders, of which the last one knows one server only. */
    private void start(String name, Duration lockDelay, UnaryOperator<Lease> hearingOfTheLast) throws Exception {
        for (int i = 0; i < 3; i++) {
            ConsulElections.Builder builder = i == 2 ? at(2) : at(i, after(i), before(i));
            ConsulElections elections =
                    opened(builder.lockDelay(lockDelay).holder("contender-" + i).build());
            assertThat(elections.election(name).leader()).isEmpty();
            UnaryOperator<Lease> hearing = i == 2 ? hearingOfTheLast : UnaryOperator.identity();
            contenders.add(new ChaosContender(elections.election(name), log, hearing));
        }
        contenders.forEach(contender -> threads.add(contender.start()));
    }

    private void stop() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join(RECOVERY.toMillis());
        }
    }

    private void makeFaults(SplittableRandom random) throws InterruptedException {
        long start = System.nanoTime();
        int faults = 0;
        while (System.nanoTime() - start < FAULTS.toNanos()) {
            makeFault(cluster.server(random.nextInt(3)), random.nextInt(3), random.nextInt(LONGEST_FAULT_MILLIS));
            cluster.awaitHealthy();
            Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
            faults++;
        }
        System.out.println("Chaos: " + faults + " faults");
    }

    /** Freezes the only server that the last contender knows, while it leads, until it has lost. */
    private void makeALoss() {
        ChaosContender loser = contenders.get(2);
        loser.cling(true);
        Lease lease = await().atMost(RECOVERY)
                .until(loser::clung, Optional::isPresent)
                .orElseThrow();
        cluster.server(2).freeze();
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        loser.cling(false);
    }

    private static void makeFault(ConsulServer server, int kind, int millis) throws InterruptedException {
        if (kind == 0) {
            server.kill();
            Thread.sleep(millis);
            server.restart();
        } else if (kind == 1) {
            server.freeze();
            Thread.sleep(millis);
            server.resume();
        } else {
            server.restart();
        }
    }

    private Void lookUntil(AtomicBoolean over) {
        while (!over.get()) {
            log.looked(contenders.stream()
                    .map(ChaosContender::held)
                    .flatMap(Optional::stream)
                    .toList());
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return null;
    }

    /** A session that its owner has given up, but still renews, would stay. */
    private void assertNothingIsLeftBehind(String name) {
        Consul consul = consul(0);
        assertThat(consul.isLocked(name)).isFalse();
        for (int i = 0; i < 3; i++) {
            String holder = "contender-" + i;
            await(holder + "'s former sessions").atMost(RECOVERY).until(() -> consul.sessionsOf(holder) <= 1);
        }
    }
}
