package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulClient;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The agent of our own machine, to whose node our session belongs, stops, dies or freezes. */
@ResourceLock(OnACluster.IN_TIME)
class ClientAgentClusterIT extends OnACluster {
    private final Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
    private final ElectionListener note = new ElectionListener() {
        @Override
        public void onLost(Lease lease, LossReason reason) {
            losses.add(reason);
        }
    };

    @BeforeEach
    void forget() {
        losses.clear();
    }

    @Test
    void aLeaseIsLostOnce_whenItsAgentLeaves_andWonAgainThroughAServer() throws Exception {
        ConsulClient agent = opened(ConsulClient.of(cluster));
        Election election =
                opened(at(agent.url(), cluster.url(0)).listener(note).build()).election("leaves");
        Lease lease = election.acquire();
        awaitRenewal(lease);
        long leaving = System.nanoTime();
        CompletableFuture<Duration> lost =
                lease.lost().toCompletableFuture().thenApply(reason -> Duration.ofNanos(System.nanoTime() - leaving));
        agent.stop();
        assertThat(lost).succeedsWithin(SOON);
        System.out.println("lost " + lost.join().toMillis() + " ms after the agent was told to stop");
        assertThat(lost.join()).isLessThan(Duration.ofSeconds(6));
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);

        Lease next = election.tryAcquire(PATIENCE).orElseThrow();
        awaitRenewal(next);
        assertThat(next.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(losses).containsExactly(LossReason.SESSION_EXPIRED);
    }

    @Test
    void aLeaseIsNotLost_whenItsOnlyAgentIsKilledAndBackAtOnce() throws Exception {
        ConsulClient agent = opened(ConsulClient.of(cluster));
        Lease lease = opened(at(agent.url()).listener(note).build())
                .election("returns")
                .acquire();
        String session = consul(0).session("returns");
        awaitRenewal(lease);
        agent.kill();
        agent.restart();
        awaitRenewal(lease);
        awaitRenewal(lease);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(consul(0).session("returns")).isEqualTo(session);
        assertThat(losses).isEmpty();
    }

    @Test
    void aLeaseIsNotLost_whenItsAgentStaysDead_andAServerIsTheSecondAddress() throws Exception {
        ConsulClient agent = opened(ConsulClient.of(cluster));
        Lease lease = opened(at(agent.url(), cluster.url(1)).listener(note).build())
                .election("dies")
                .acquire();
        String session = consul(0).session("dies");
        agent.kill();
        // until the servers call the node failed: our session is not bound to that
        String critical = "/v1/health/node/consul-" + agent.httpPort();
        await().atMost(PATIENCE).until(() -> cluster.server(0).get(critical).contains("\"Status\":\"critical\""));
        awaitRenewal(lease);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(consul(0).session("dies")).isEqualTo(session);
        assertThat(losses).isEmpty();
    }
}
