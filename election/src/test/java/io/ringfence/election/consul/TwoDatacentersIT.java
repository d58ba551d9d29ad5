package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
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

    private static ConsulServer east;
    private static ConsulServer west;

    @BeforeAll
    static void start() throws Exception {
        int eastPort = freePort();
        east = ConsulServer.start(config("east", eastPort, ""));
        west = ConsulServer.start(config("west", freePort(), "\"127.0.0.1:" + eastPort + "\""));
        await("the datacenters to be joined").atMost(SOON).until(() -> knowsBoth(east) && knowsBoth(west));
    }

    @AfterAll
    static void stop() {
        west.close();
        east.close();
    }

    private static boolean knowsBoth(ConsulServer server) {
        String known = server.get("/v1/catalog/datacenters");
        return known.contains("east") && known.contains("west");
    }

    private static String config(String datacenter, int wanPort, String join) {
        return """
                {"datacenter": "%s", "ports": {"serf_wan": %d}, "retry_join_wan": [%s], "retry_interval_wan": "1s"}
                """.formatted(datacenter, wanPort, join);
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
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
}
