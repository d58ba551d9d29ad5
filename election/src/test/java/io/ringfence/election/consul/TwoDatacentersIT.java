package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two datacenters that know each other: elections are held in the one that is named, whichever agent is asked. */
class TwoDatacentersIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    private static JoinedDatacenters datacenters;
    private static ConsulServer east;
    private static ConsulServer west;

    @BeforeAll
    static void start() throws Exception {
        datacenters = new JoinedDatacenters();
        east = datacenters.east();
        west = datacenters.west();
    }

    @AfterAll
    static void stop() {
        datacenters.close();
    }

    private static ConsulElections.Builder at(ConsulServer agent) {
        return new Consul(agent).quick();
    }

    @Test
    void leadsInTheDatacenterThatIsNamed_throughAnAgentOfAnother() throws Exception {
        ExecutorService caller = Executors.newSingleThreadExecutor();
        try (Elections remote = at(east).datacenter("west").holder("remote").build();
                Elections local = at(west).build()) {
            Election election = remote.election("job");
            Lease lease = election.acquire();
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
            assertThat(lease.requireToken().value()).isEqualTo(new Consul(west).index("job"));
            assertThatThrownBy(() -> new Consul(east).index("job"))
                    .as("the agent's own datacenter has no such key")
                    .hasMessageContaining("404");

            Election other = local.election("job");
            assertThat(other.tryAcquire()).isEmpty();
            assertThat(other.leader()).contains("remote");
            lease.close();
            Lease next = other.acquire();
            Future<Lease> waiting = caller.submit(election::acquire);
            await().during(Duration.ofSeconds(1)).until(() -> !waiting.isDone());
            next.close();
            Lease again = waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertThat(again.requireToken()).isGreaterThan(next.fencingToken());

            west.destroySession(new Consul(west).session("job"));
            await().atMost(SOON).until(() -> !again.isHeld());
            assertThat(again.lossReason()).contains(LossReason.SESSION_EXPIRED);
        } finally {
            caller.shutdownNow();
        }
    }

    @Test
    void theSameNameInTwoDatacenters_isTwoElections() throws Exception {
        try (Elections first = at(east).datacenter("east").build();
                Elections second = at(east).datacenter("west").build();
                Lease lease = first.election("apart").acquire()) {
            assertThat(second.election("apart").tryAcquire()).isPresent();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void aFaultWhileAServerThereIsLookedUp_isNoDenial() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(east.httpPort());
                Elections remote = ConsulElections.builder(proxy.url())
                        .datacenter("west")
                        .lockDelay(Duration.ZERO)
                        .build()) {
            Election election = remote.election("faulty");
            Lease first = election.acquire();
            CompletableFuture<Void> failed =
                    proxy.failNextAnswer(line -> line.startsWith("GET /v1/catalog/service/consul"), 500);
            west.destroySession(new Consul(west).session("faulty"));
            await().atMost(SOON).until(() -> !first.isHeld());
            try (Lease next = election.acquire()) {
                assertThat(failed).isCompleted();
                assertThat(next.requireToken()).isGreaterThan(first.fencingToken());
            }
        }
    }

    @Test
    void failureDetectionInAnotherDatacenter_isRefusedAndSaysSo_andLeavesNoServiceBehind() {
        try (Elections remote = at(east).datacenter("west")
                .failureDetection(Duration.ofSeconds(2))
                .build()) {
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(remote.election("detected")::acquire)
                    .withMessageContainingAll(
                            "datacenter 'west'", "failureDetection(..) works in the agent's own datacenter only");
            assertThat(east.get("/v1/agent/services")).doesNotContain("ringfence");
        }
    }
}
