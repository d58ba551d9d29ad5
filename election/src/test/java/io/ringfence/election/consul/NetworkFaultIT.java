package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real Consul behind a network that loses, delays, repeats and cuts. */
@ExtendWith(SharedServers.class)
class NetworkFaultIT {
    private static final String PREFIX = "faults/"; // what other tests do under another prefix wakes nobody here
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String TRANSACTION = "PUT /v1/txn";
    private static final String CREATE = "PUT /v1/session/create";
    private static final String RENEW = "PUT /v1/session/renew";

    private final Consul consul;
    private final String name;
    private final TcpProxy proxy;
    private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    private Elections elections;
    private Election election;

    NetworkFaultIT(ConsulServer server, TestInfo test) {
        this.consul = new Consul(server, PREFIX);
        this.name = test.getTestMethod().orElseThrow().getName();
        this.proxy = TcpProxy.to(server.httpPort());
        this.elections = through();
        this.election = elections.election(name);
    }

    private Elections through() {
        return ConsulElections.builder(proxy.url())
                .keyPrefix(PREFIX)
                .lockDelay(Duration.ZERO)
                .threadFactory(task -> {
                    Thread thread = new Thread(task);
                    threads.add(thread);
                    return thread;
                })
                .build();
    }

    @AfterEach
    void close() {
        proxy.pass();
        elections.close();
        proxy.close();
    }

    private static Predicate<String> startsWith(String requestLine) {
        return line -> line.startsWith(requestLine);
    }

    private Stream<String> requests(String requestLine) {
        return proxy.requests().stream().map(RecordedRequest::requestLine).filter(startsWith(requestLine));
    }

    @Test
    void aBlackHoleEndsTheLeaseAtTtlMinusMargin_afterTheLastRenewalWasSent() throws Exception {
        Lease lease = election.acquire();
        await().atMost(SOON).until(() -> requests(RENEW).count() == 2);
        // Half a second after a renewal was sent and answered: no other is under way.
        Thread.sleep(500);
        proxy.blackHole();
        long swallowed = System.nanoTime();
        Duration expected = lease.remaining();
        assertThat(expected).isBetween(Duration.ofMillis(6_500), Duration.ofMillis(7_600));
        await().atMost(SOON).pollInterval(Duration.ofMillis(10)).until(() -> !lease.isHeld());

        Duration took = Duration.ofNanos(System.nanoTime() - swallowed);
        assertThat(took).isBetween(expected.minusMillis(50), expected.plusMillis(750));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON);
        long closing = System.nanoTime();
        lease.close();
        assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(Duration.ofSeconds(5));

        proxy.pass();
        proxy.cut();
        Lease next = election.acquire();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void closingInABlackHoleIsBounded() throws Exception {
        election.acquire();
        proxy.blackHole();
        long closing = System.nanoTime();
        elections.close();
        assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(Duration.ofSeconds(9));
    }

    @Test
    void aLostAnswerToTheLock_isSettledByARead_andKeepsTheGrantedToken() throws Exception {
        CompletableFuture<Void> lost = proxy.loseNextAnswer(startsWith(TRANSACTION));
        Lease lease = election.acquire();
        assertThat(lost).succeedsWithin(SOON);
        assertThat(lease.requireToken().value()).isEqualTo(consul.index(name));
        assertThat(requests(TRANSACTION)).hasSize(1);
        assertThat(requests(CREATE)).hasSize(1);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void aLostAnswerToTheUnlock_isSettled() throws Exception {
        Lease lease = election.acquire();
        CompletableFuture<Void> lost = proxy.loseNextAnswer(startsWith(TRANSACTION));
        lease.close();
        assertThat(lost).succeedsWithin(SOON);
        assertThat(consul.isLocked(name)).isFalse();
        assertThat(election.acquire().fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void aLostAnswerToTheSessionsCreation_leavesNoLockBehind() throws Exception {
        election.leader();
        CompletableFuture<Void> lost = proxy.loseNextAnswer(startsWith(CREATE));
        Lease lease = election.acquire();
        assertThat(lost).succeedsWithin(SOON);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void lateDuplicatesOfLockAndUnlock_changeNothing() throws Exception {
        Lease first = election.acquire();
        first.close();
        Lease second = election.acquire();
        second.close();
        Lease third = election.acquire();
        List<RecordedRequest> transactions = proxy.requests().stream()
                .filter(request -> request.requestLine().startsWith(TRANSACTION))
                .toList();
        assertThat(transactions).hasSize(5);
        long index = consul.index(name);
        for (RecordedRequest late : transactions) {
            assertThat(proxy.replay(late)).contains(" 409 ");
        }
        assertThat(consul.index(name)).isEqualTo(index);
        assertThat(third.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);

        third.close();
        for (RecordedRequest late : transactions) {
            assertThat(proxy.replay(late)).contains(" 409 ");
        }
        assertThat(consul.isLocked(name))
                .as("no orphan that our renewals would keep alive")
                .isFalse();
    }

    @Test
    void withoutTheGuard_aLateDuplicateOfTheUnlockFreesTheNextLease() throws Exception {
        // The control: what the guards are for.
        Lease first = election.acquire();
        String session = consul.session(name);
        first.close();
        Lease second = election.acquire();
        consul.put(name, "?release=" + session, "");
        assertThat(consul.isLocked(name)).isFalse();
        await().atMost(SOON).until(() -> !second.isHeld());
        assertThat(second.lossReason()).contains(LossReason.LOCK_RELEASED);
    }

    @Test
    void slowAnswersAreNoLoss() throws Exception {
        Lease lease = election.acquire();
        proxy.delay(Duration.ofSeconds(1));
        await().during(Duration.ofSeconds(20)).atMost(Duration.ofSeconds(25)).until(lease::isHeld);
    }

    @Test
    void cutConnectionsAreNoLoss() throws Exception {
        Lease lease = election.acquire();
        for (int i = 0; i < 40; i++) {
            proxy.cut();
            Thread.sleep(300);
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @ParameterizedTest
    @ValueSource(strings = {CREATE, TRANSACTION})
    void anInterruptAtEveryStepOfAcquireLeavesTheKeyFree(String step) throws Exception {
        election.leader(); // so that a lost answer is waited through
        for (boolean lose : new boolean[] {false, true}) {
            CompletableFuture<Void> arrived = lose ? proxy.loseNextAnswer(startsWith(step)) : new CompletableFuture<>();
            if (!lose) {
                proxy.delay(Duration.ofMillis(500));
            }
            long before = requests(step).count();
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();
            Thread thread = new Thread(
                    () -> assertThatThrownBy(() -> election.acquire()).satisfies(thrown::complete));
            thread.start();
            if (lose) {
                arrived.get(SOON.toSeconds(), TimeUnit.SECONDS);
            } else {
                await().atMost(SOON)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> requests(step).count() > before);
            }
            thread.interrupt();
            long interrupted = System.nanoTime();
            Throwable ended = thrown.get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertThat(Duration.ofNanos(System.nanoTime() - interrupted)).isLessThan(Duration.ofMillis(400));
            assertThat(ended).isInstanceOf(InterruptedException.class);
            proxy.pass();
            try (Elections others = consul.quick().build()) {
                assertThat(others.election(name).tryAcquire(SOON)).isPresent();
            }
            elections.close();
            elections = through();
            election = elections.election(name);
            election.leader();
        }
    }

    @Test
    void theAclTokenIsInAHeaderOnly_andAskedForEachRequest() throws Exception {
        List<String> tokens = new ArrayList<>(List.of("first-s3cret"));
        try (Elections withToken = ConsulElections.builder(proxy.url())
                .lockDelay(Duration.ZERO)
                .aclToken(() -> tokens.get(tokens.size() - 1))
                .build()) {
            // Without ACLs Consul ignores tokens.
            Lease lease = withToken.election(name).acquire();
            tokens.add("second-s3cret");
            lease.close();
        }
        List<RecordedRequest> requests = proxy.requests();
        assertThat(requests).isNotEmpty().allSatisfy(request -> {
            assertThat(request.requestLine() + request.body())
                    .doesNotContain("s3cret")
                    .doesNotContain("token=");
            assertThat(request.headers()).containsPattern("X-Consul-Token: (first|second)-s3cret");
        });
        assertThat(requests.get(0).headers()).contains("first-s3cret");
        assertThat(requests.get(requests.size() - 1).headers()).contains("second-s3cret");
    }

    @Test
    void waitingAndHoldingWriteNothingButRenewals_onFourConnections() throws Exception {
        Lease lease = election.acquire();
        try (Elections waiting = through()) {
            CompletableFuture<Lease> next = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    next.complete(waiting.election(name).acquire());
                } catch (InterruptedException | RuntimeException e) {
                    next.completeExceptionally(e);
                }
            });
            thread.start();
            await().atMost(SOON).until(() -> thread.getState() == Thread.State.WAITING);
            Thread.sleep(1_000);
            proxy.clearRequests();
            Thread.sleep(22_000);
            List<String> lines =
                    proxy.requests().stream().map(RecordedRequest::requestLine).toList();
            assertThat(lines).allMatch(line -> line.startsWith(RENEW) || line.contains("recurse"));
            assertThat(lines.stream().filter(startsWith(RENEW))).hasSizeBetween(10, 18);
            assertThat(lines.stream().filter(startsWith("GET"))).hasSizeBetween(2, 8);
            assertThat(proxy.maxOpenConnections()).isLessThanOrEqualTo(2 * 4);
            assertThat(threads.stream().filter(Thread::isAlive).count()).isLessThanOrEqualTo(2 * 9);
            assertThat(threads)
                    .allMatch(Thread::isDaemon)
                    .allMatch(own -> own.getName().startsWith("ringfence-"));
            lease.close();
            assertThat(next).succeedsWithin(SOON);
        }
    }
}
