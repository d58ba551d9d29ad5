package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One Consul that is reached by two ways, each of which fails in turn. */
@ExtendWith(SharedServers.class)
class SeveralAddressesIT {
    private static final String PREFIX = "addresses/";
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String TRANSACTION = "PUT /v1/txn";
    private static final String CREATE = "PUT /v1/session/create";

    private final Consul consul;
    private final TcpProxy first;
    private final TcpProxy second;
    private final ConsulElections elections;
    private final String name;
    private final Election election;

    SeveralAddressesIT(ConsulServer server, TestInfo test) {
        this.consul = new Consul(server, PREFIX);
        this.first = TcpProxy.to(server.httpPort());
        this.second = TcpProxy.to(server.httpPort());
        this.elections = ConsulElections.builder(first.url(), second.url())
                .keyPrefix(PREFIX)
                .lockDelay(Duration.ZERO)
                .build();
        this.name = test.getTestMethod().orElseThrow().getName();
        this.election = elections.election(name);
    }

    @AfterEach
    void close() {
        first.pass();
        second.pass();
        elections.close();
        first.close();
        second.close();
    }

    private static long count(TcpProxy proxy, String requestLine) {
        return proxy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line -> line.startsWith(requestLine))
                .count();
    }

    @Test
    void theFirstAddressIsUsedAlone_whileItAnswers() throws Exception {
        try (Lease lease = election.acquire()) {
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        }
        assertThat(first.requests()).isNotEmpty();
        assertThat(second.maxOpenConnections()).isZero();
    }

    @Test
    void aRefusedFirstAddressIsPassedOver_alsoAtTheFirstUse() throws Exception {
        first.refuse();
        Lease lease = election.acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        first.pass();
        first.clearRequests();
        await().during(Duration.ofSeconds(5)).atMost(SOON).until(lease::isHeld);
        assertThat(first.requests()).as("nothing goes back by itself").isEmpty();
    }

    @Test
    void aBlackHoleAtTheFirstAddressIsPassedOver_alsoAtTheFirstUse() throws Exception {
        first.blackHole();
        Lease lease = election.tryAcquire().orElseThrow();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 503})
    void anAgentThatAnswersWithAnErrorOfItsOwnIsPassedOver_alsoAtTheFirstUse(int status) throws Exception {
        HttpServer broken = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        broken.createContext("/", exchange -> {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        broken.start();
        String address = "http://127.0.0.1:" + broken.getAddress().getPort();
        try (ConsulElections others = ConsulElections.builder(address, second.url())
                        .keyPrefix(PREFIX)
                        .build();
                Lease lease = others.election("error-" + status).tryAcquire().orElseThrow()) {
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        } finally {
            broken.stop(0);
        }
    }

    @Test
    void aHeldLeaseIsNotLost_whenTheFirstAddressIsCutOffAndThenTheSecond() throws Exception {
        Lease lease = election.acquire();
        first.refuse();
        first.cut();
        await().during(Duration.ofSeconds(11)).atMost(Duration.ofSeconds(12)).until(lease::isHeld);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        first.pass();
        second.refuse();
        second.cut();
        await().during(Duration.ofSeconds(11)).atMost(Duration.ofSeconds(12)).until(lease::isHeld);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(count(first, CREATE) + count(second, CREATE)).isEqualTo(1);
    }

    @Test
    void aHeldLeaseIsNotLost_whenTheFirstAddressSwallowsEverything() throws Exception {
        Lease lease = election.acquire();
        first.blackHole();
        await().during(Duration.ofSeconds(22)).atMost(Duration.ofSeconds(23)).until(lease::isHeld);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(first.openConnections() + second.openConnections()).isLessThanOrEqualTo(4);
        assertThat(first.maxOpenConnections()).isLessThanOrEqualTo(4);
        assertThat(second.maxOpenConnections()).isLessThanOrEqualTo(4);
    }

    @Test
    void aLockWhoseAnswerWasLost_isRepeated_andGrantsTheOneLockThatHappened() throws Exception {
        CompletableFuture<Void> lost = first.loseNextAnswer(line -> line.startsWith(TRANSACTION));
        Lease lease = election.tryAcquire().orElseThrow();
        assertThat(lost).succeedsWithin(SOON);
        assertThat(count(first, TRANSACTION)).isEqualTo(1);
        assertThat(count(second, TRANSACTION)).isEqualTo(1);
        assertThat(lease.requireToken().value()).isEqualTo(consul.index(name));
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void anUnlockWhoseAnswerWasLost_isRepeated_andFreesNothingElse() throws Exception {
        Lease lease = election.acquire();
        CompletableFuture<Void> lost = first.loseNextAnswer(line -> line.startsWith(TRANSACTION));
        lease.close();
        assertThat(lost).succeedsWithin(SOON);
        assertThat(consul.isLocked(name)).isFalse();
        Lease next = election.acquire();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        for (RecordedRequest late : first.requests()) {
            if (late.requestLine().startsWith(TRANSACTION)) {
                assertThat(second.replay(late)).contains(" 409 ");
            }
        }
        assertThat(next.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void theLeaseIsLostAtItsDeadline_whenBothAddressesAreDead_andAllAreNamed() throws Exception {
        Lease lease = election.acquire();
        first.blackHole();
        second.refuse();
        long dead = System.nanoTime();
        await().atMost(Duration.ofSeconds(12)).until(() -> !lease.isHeld());
        assertThat(Duration.ofNanos(System.nanoTime() - dead))
                .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(8_500));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        first.cut();
        first.refuse();
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(election::leader)
                .withMessageContainingAll(first.url(), second.url(), "refused");
        second.pass();
        assertThat(election.acquire().fencingToken()).isGreaterThan(lease.fencingToken());
    }
}
