package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two of three servers are down: nothing can be written, nothing expires, and the third one may not know it. */
@ResourceLock(OnACluster.IN_TIME)
class QuorumClusterIT extends OnACluster {
    private static final Duration TERM = Duration.ofSeconds(8);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theHolderLosesAtItsDeadline_nobodyLeads_untilThereIsAQuorumAgain(boolean theRaftLeaderSurvives)
            throws Exception {
        int leader = cluster.awaitLeader();
        int survivor = theRaftLeaderSurvives ? leader : after(leader);
        String name = "quorum-" + theRaftLeaderSurvives;
        TcpProxy proxy = opened(TcpProxy.to(cluster.server(survivor).httpPort()));
        Election held = opened(at(proxy.url()).build()).election(name);
        Lease lease = held.acquire();
        String session = consul(survivor).session(name);
        Election challenger = opened(at(survivor).build()).election(name);
        assertThat(challenger.tryAcquire()).isEmpty();
        CompletableFuture<Lease> waiting =
                async(opened(at(survivor, after(survivor)).build()).election(name)::acquire);
        awaitRenewal(lease);
        Duration deadline = lease.remaining();

        cluster.server(after(survivor)).stop();
        cluster.server(before(survivor)).stop();
        assertThatThrownBy(() -> consul(survivor).put("written", "", "")).isInstanceOf(IllegalStateException.class);
        assertGetsNothing(challenger::tryAcquire, cluster.url(survivor));
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        assertThat(deadline).isBetween(TERM.minusMillis(500), TERM);

        proxy.clearRequests();
        assertGetsNothing(() -> challenger.tryAcquire(Duration.ofSeconds(3)), cluster.url(survivor));
        assertThat(waiting).isNotDone();
        assertThat(proxy.requests()).noneMatch(request -> request.requestLine().contains("/renew/" + session));

        cluster.heal();
        Lease next = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(next.requireToken().value())
                .isGreaterThan(lease.fencingToken().value())
                .isEqualTo(consul(survivor).index(name));
        assertThat(lease.isHeld()).isFalse();
        await().atMost(PATIENCE)
                .until(() -> !cluster.server(survivor)
                        .get("/v1/session/info/" + session)
                        .contains(session));
        next.close();
        assertThat(held.tryAcquire(PATIENCE).orElseThrow().fencingToken()).isGreaterThan(next.fencingToken());
    }

    /** "No", or an error that says where Consul does not answer; but no lease. */
    private static void assertGetsNothing(Callable<Optional<Lease>> call, String address) throws Exception {
        try {
            assertThat(call.call()).isEmpty();
        } catch (ElectionException e) {
            assertThat(e).hasMessageContaining(address);
        }
    }
}
