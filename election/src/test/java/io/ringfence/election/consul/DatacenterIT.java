package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Elections in a datacenter that is named. */
@ExtendWith(SharedServers.class)
class DatacenterIT {
    private final ConsulServer server;

    DatacenterIT(ConsulServer server) {
        this.server = server;
    }

    @Test
    void everyRequestAsksForTheDatacenter() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.httpPort())) {
            try (ConsulElections elections = ConsulElections.builder(proxy.url())
                            .keyPrefix("datacenter/")
                            .datacenter("dc1")
                            .build();
                    Lease lease = elections.election("job").acquire()) {
                assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> lines(proxy).stream().anyMatch(line -> line.contains("/session/renew/")));
            }
            assertThat(lines(proxy))
                    .allMatch(line -> line.contains("dc=dc1"))
                    .anyMatch(line -> line.contains("/v1/session/create"))
                    .anyMatch(line -> line.contains("/v1/session/destroy/"))
                    .anyMatch(line -> line.contains("/v1/txn"))
                    .anyMatch(line -> line.contains("recurse"))
                    .anyMatch(line -> line.contains("consistent"));
        }
    }

    @Test
    void anUnknownDatacenterIsToldAtOnce_andNamed() {
        try (ConsulElections elections =
                ConsulElections.builder(server.url()).datacenter("no-such-dc").build()) {
            Election election = elections.election("job");
            long start = System.nanoTime();
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::acquire)
                    .withMessageContainingAll(server.url(), "'no-such-dc'", "datacenter(..)");
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::tryAcquire)
                    .withMessageContaining("'no-such-dc'");
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::leader)
                    .withMessageContaining("'no-such-dc'");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        }
    }

    private static List<String> lines(TcpProxy proxy) {
        return proxy.requests().stream().map(RecordedRequest::requestLine).toList();
    }
}
