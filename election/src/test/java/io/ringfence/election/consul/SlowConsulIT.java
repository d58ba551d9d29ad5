package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;

/** A Consul that is slow, fails now and then, or dies; and callbacks that are no better. */
@ExtendWith(SharedServers.class)
class SlowConsulIT {
    private static final String PREFIX = "slow/";
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration TERM = Duration.ofSeconds(8); // ttl - margin
    private static final String RENEW = "PUT /v1/session/renew";

    private final Consul consul;
    private final String name;
    private final TcpProxy proxy;
    private final AtomicBoolean supplierThrows = new AtomicBoolean();
    private final AtomicInteger thrown = new AtomicInteger();
    private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    private final ConsulElections elections;

    SlowConsulIT(ConsulServer server, TestInfo test) {
        this.consul = new Consul(server, PREFIX);
        this.name = test.getTestMethod().orElseThrow().getName();
        this.proxy = TcpProxy.to(server.httpPort());
        this.elections = through(proxy);
    }

    private ConsulElections through(TcpProxy way) {
        return ConsulElections.builder(way.url())
                .keyPrefix(PREFIX)
                .lockDelay(Duration.ZERO)
                .aclToken(this::noToken)
                .threadFactory(task -> {
                    Thread thread = new Thread(task);
                    threads.add(thread);
                    return thread;
                })
                .build();
    }

    private String noToken() {
        if (Thread.currentThread().getName().equals("ringfence-renew") && supplierThrows.getAndSet(false)) {
            thrown.incrementAndGet();
            throw new IllegalStateException("thrown by the token supplier of a test");
        }
        return "";
    }

    @AfterEach
    void close() {
        proxy.pass();
        elections.close();
        proxy.close();
    }

    private long renewals() {
        return proxy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line -> line.startsWith(RENEW))
                .count();
    }

    @Test
    void aRenewalThatFails_orThrows_isNoLoss_andRenewingGoesOn() throws Exception {
        Lease lease = elections.election(name).acquire();
        CompletableFuture<Void> failed = proxy.failNextAnswer(line -> line.startsWith(RENEW), 500);
        supplierThrows.set(true);
        await().atMost(SOON).until(() -> failed.isDone() && thrown.get() == 1);
        long before = renewals();
        await().during(TERM.plusSeconds(1)).atMost(TERM.plusSeconds(3)).until(lease::isHeld);
        assertThat(renewals() - before).isGreaterThanOrEqualTo(2);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void theDeadlineCountsFromSendingTheRenewal_notFromItsAnswer() throws Exception {
        Lease lease = elections.election(name).acquire();
        Duration late = Duration.ofMillis(1_500);
        proxy.delay(late);
        await().pollInterval(Duration.ofMillis(5)).atMost(SOON).until(() -> renewals() == 1);
        Duration atSending = lease.remaining();
        await("the late answer")
                .pollInterval(Duration.ofMillis(5))
                .atMost(SOON)
                .until(() -> lease.remaining().compareTo(atSending) > 0);
        assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(4)).isLessThanOrEqualTo(TERM.minus(late));
    }

    @Test
    void answersThatComeTooLate_extendNothing() throws Exception {
        Lease lease = elections.election(name).acquire();
        await().pollInterval(Duration.ofMillis(5)).atMost(SOON).until(() -> renewals() == 1);
        await("its answer").atMost(SOON).until(() -> lease.remaining().compareTo(Duration.ofSeconds(7)) > 0);
        proxy.delay(Duration.ofSeconds(3));
        Duration left = lease.remaining();
        long slow = System.nanoTime();
        await().pollInterval(Duration.ofMillis(5)).atMost(SOON).until(() -> !lease.isHeld());
        assertThat(Duration.ofNanos(System.nanoTime() - slow)).isBetween(left.minusMillis(100), left.plusMillis(750));
        assertThat(renewals()).as("sent, and carried out by Consul").isGreaterThan(2);
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void closingAfterConsulDied_twice_atOnce_andInsideALossAction_isBounded_andEndsAllThreads() throws Exception {
        ConsulElections dying = through(proxy);
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            leases.add(dying.election(name + "/" + i).acquire());
        }
        Lease lease = leases.get(0);
        CompletableFuture<Void> inside = lease.lost()
                .thenAccept(reason -> {
                    lease.close();
                    dying.close();
                })
                .toCompletableFuture();
        proxy.refuse();
        proxy.cut();
        long began = System.nanoTime();
        Consul.atOnce(4, () -> {
            lease.close();
            dying.close();
            return null;
        });
        leases.forEach(Lease::close);
        dying.close();
        assertThat(inside).succeedsWithin(SOON);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(15));
        assertThat(leases).noneMatch(Lease::isHeld);
        elections.close();
        await("no thread is stuck").atMost(SOON).until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void actionsThatBlockOrThrow_delayNeitherTheLossOfOthers_norRenewals() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            leases.add(elections.election(name + "/" + i).acquire());
        }
        for (Lease blocked : leases.subList(0, 3)) { // one callback thread of four is left
            blocked.lost().thenAccept(reason -> awaitUninterruptibly(never));
            blocked.close();
        }
        CompletableFuture<Void> thrower = leases.get(3)
                .lost()
                .thenAccept(reason -> {
                    throw new IllegalStateException("thrown by the callback of a test");
                })
                .toCompletableFuture();
        leases.get(3).close();
        assertThat(thrower).failsWithin(SOON);
        leases.get(4).close();
        assertThat(leases.get(4).lost().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(2));
        for (int i = 0; i < 5; i++) {
            assertThat(consul.isLocked(name + "/" + i)).isFalse();
        }
        Lease kept = leases.get(5);
        await().during(TERM.plusSeconds(1)).atMost(TERM.plusSeconds(3)).until(kept::isHeld);
        never.countDown();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aNameThatConsulWouldReadDifferently_isRefusedBeforeAnyRequest() {
        for (String bad : List.of("a?b", "a#b", "a b", ".", "..", "a//b", "/a", "a/", "a%2Fb", "")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> elections.election(bad).acquire())
                    .withMessageContaining("'" + bad + "'");
        }
        assertThat(proxy.acceptedConnections()).isZero();
    }
}
