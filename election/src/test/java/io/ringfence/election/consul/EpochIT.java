package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tokens go on growing over a Consul that was rebuilt, when operators raise the epoch; and nobody misses it. */
@ExtendWith(SharedServers.class)
class EpochIT {
    private final Consul consul;

    EpochIT(ConsulServer server) {
        this.consul = new Consul(server, "epochs/");
    }

    @Test
    void aTokenIsTheIndex_plusTheEpochInFrontOfIt() throws Exception {
        try (Elections zero = consul.quick().build();
                Elections last = consul.quick().epoch(65_535).build()) {
            Lease low = zero.election("front").acquire();
            assertThat(low.requireToken().value()).isEqualTo(consul.index("front"));
            low.close();
            Lease high = last.election("front").acquire();
            assertThat(high.requireToken().value()).isEqualTo((65_535L << 47) + consul.index("front"));
        }
    }

    @Test
    void aProcessWithALowerEpochDoesNotContend_andSaysSo() throws Exception {
        try (Elections raised = consul.quick().epoch(3).build();
                Elections forgotten = consul.quick().epoch(2).build()) {
            Election election = forgotten.election("lower");
            Lease before = election.acquire();
            before.close();
            Lease lease = raised.election("lower").acquire();
            assertThat(lease.fencingToken()).isGreaterThan(before.fencingToken());
            for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(ElectionException.class)
                        .isThrownBy(election::acquire)
                        .withMessageContainingAll("epoch 2", "epoch 3", "'lower'");
                assertThatExceptionOfType(ElectionException.class).isThrownBy(election::tryAcquire);
                lease.close();
            }
        }
    }

    @Test
    void aRebuiltConsulIsDetected_andAHigherEpochHelps() throws Exception {
        try (ConsulServer old = ConsulServer.start();
                ConsulServer rebuilt = ConsulServer.start();
                TcpProxy proxy = TcpProxy.to(old.httpPort());
                Elections elections = elections(proxy, 0)) {
            Election election = elections.election("job");
            for (int i = 0; i < 20; i++) {
                election.acquire().close();
            }
            Lease lease = election.acquire();
            FencingToken highest = lease.fencingToken();
            proxy.forwardTo(rebuilt.httpPort());
            proxy.cut();
            await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isHeld());

            assertThatExceptionOfType(TokenRegressionException.class)
                    .isThrownBy(election::acquire)
                    .satisfies(e -> assertThat(e.seen()).isGreaterThanOrEqualTo(highest))
                    .satisfies(e -> assertThat(e.granted()).isLessThan(highest))
                    .withMessageContaining("epoch");
            await("the lock is given back in the background")
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> election.leader().isEmpty());
            try (Elections raised = elections(proxy, 1)) {
                assertThat(raised.election("job").acquire().requireToken()).isGreaterThan(highest);
            }
        }
    }

    private static Elections elections(TcpProxy proxy, int epoch) {
        return ConsulElections.builder(proxy.url())
                .lockDelay(Duration.ZERO)
                .epoch(epoch)
                .build();
    }
}
