package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What callers are told, and what becomes of leases, when Consul is not there or is something else. */
@ExtendWith(SharedServers.class)
class UnreachableConsulIT {
    private static final Duration BOUND = Duration.ofSeconds(10);

    @Test
    void saysWhatWasTriedAndWhatToCheck_whenNobodyListens() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        String address = "http://127.0.0.1:" + port;
        try (Elections elections = ConsulElections.builder(address).build()) {
            Election election = elections.election("job");
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::acquire)
                    .withMessageContainingAll("Cannot reach Consul at " + address, "refused", "Check that the address");
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::tryAcquire)
                    .withMessageContaining(address);
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(() -> election.tryAcquire(Duration.ofSeconds(1)))
                    .withMessageContaining(address);
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::leader)
                    .withMessageContaining(address);
        }
    }

    @Test
    void says_whenTheHostDoesNotExist() {
        try (Elections elections =
                ConsulElections.builder("http://no-such-host.invalid:8500").build()) {
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(() -> elections.election("job").acquire())
                    .withMessageContaining("no-such-host.invalid");
        }
    }

    @Test
    void says_whenSomethingElseAnswers() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        for (int status : new int[] {200, 404, 302}) {
            server.createContext("/", exchange -> {
                byte[] body = "<html>a web site</html>".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            if (status == 200) {
                server.start();
            }
            String address = "http://127.0.0.1:" + server.getAddress().getPort();
            try (Elections elections = ConsulElections.builder(address).build()) {
                assertThatExceptionOfType(ElectionException.class)
                        .isThrownBy(() -> elections.election("job").acquire())
                        .withMessageContainingAll(address, "Consul");
            }
            server.removeContext("/");
        }
        server.stop(0);
    }

    @Test
    void namesBothValues_whenTheTtlIsBelowConsulsMinimum(ConsulServer consul) {
        try (Elections elections = ConsulElections.builder(consul.url())
                .sessionTtl(Duration.ofSeconds(3))
                .build()) {
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(() -> elections.election("short").acquire())
                    .withMessageContainingAll("PT3S", "10s", "session_ttl_min");
        }
    }

    @Test
    void saysWhichRightsAreMissing_whenConsulDeniesAccess() {
        try (ConsulServer server = ConsulServer.start("""
                {"primary_datacenter": "dc1", "acl": {"enabled": true, "default_policy": "deny"}}""")) {
            for (String token : new String[] {"", "00000000-0000-0000-0000-00000000beef"}) {
                try (Elections elections = ConsulElections.builder(server.url())
                        .aclToken(() -> token)
                        .build()) {
                    assertThatExceptionOfType(ElectionException.class)
                            .isThrownBy(() -> elections.election("job").acquire())
                            .withMessageContainingAll("key_prefix \"ringfence/\" write", "session_prefix", "aclToken")
                            .satisfies(e -> assertThat(e.getMessage()).doesNotContain("beef"));
                }
            }
        }
    }

    @Test
    void waitsThroughAnOutage_onceConsulHasAnswered_andLeadsAgainWithAHigherToken() throws Exception {
        try (ConsulServer server = ConsulServer.start();
                Elections elections = new Consul(server).quick().build()) {
            Election election = elections.election("job");
            Lease lease = election.acquire();
            server.kill();
            long killed = System.nanoTime();
            await().atMost(Duration.ofSeconds(12)).until(() -> !lease.isHeld());
            assertThat(Duration.ofNanos(System.nanoTime() - killed))
                    .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(9_500));
            assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
            assertThatExceptionOfType(ElectionException.class)
                    .as("no answer is not a no")
                    .isThrownBy(election::tryAcquire);
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(() -> election.tryAcquire(Duration.ofSeconds(1)));

            server.restart();
            Lease next = election.acquire();
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            assertThat(lease.isHeld()).isFalse();
        }
    }

    @Test
    void aFrozenConsulEndsTheLeaseAtItsDeadline_andClosingIsBounded() throws Exception {
        try (ConsulServer server = ConsulServer.start()) {
            Elections elections = new Consul(server).quick().build();
            Lease lease = elections.election("job").acquire();
            Lease other = elections.election("other").acquire();
            server.freeze();
            long frozen = System.nanoTime();
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.UNKNOWN);
            await().atMost(Duration.ofSeconds(12)).until(() -> !lease.isHeld());
            assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
            assertThat(Duration.ofNanos(System.nanoTime() - frozen))
                    .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(9_500));

            long closing = System.nanoTime();
            lease.close();
            other.close();
            elections.close();
            assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(BOUND);
            server.resume();
            assertThat(lease.isHeld()).isFalse();
        }
    }
}
