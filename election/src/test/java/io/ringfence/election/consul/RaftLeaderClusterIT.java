package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Lease;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The leader among Consul's servers, on which all renewals end, dies or freezes, and another one takes its place. */
@ResourceLock(OnACluster.IN_TIME)
class RaftLeaderClusterIT extends OnACluster {

    @Test
    void tokensGrow_acrossAChangeOfTheRaftLeader() throws Exception {
        int former = cluster.awaitLeader();
        Election election = opened(at(after(former)).build()).election("tokens");
        Election other = opened(at(before(former)).build()).election("tokens");
        Lease first = other.acquire();
        first.close();
        Lease second = election.acquire();
        cluster.server(former).kill();
        assertThat(cluster.awaitLeaderOtherThan(former)).isNotEqualTo(former);
        second.close();
        Lease third = other.tryAcquire(PATIENCE).orElseThrow();
        assertThat(third.requireToken().value()).isEqualTo(consul(after(former)).index("tokens"));
        third.close();
        Lease fourth = election.tryAcquire(PATIENCE).orElseThrow();
        assertThat(List.of(first, second, third, fourth))
                .extracting(Lease::fencingToken)
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void theSameTermGoesOn_whenTheRaftLeaderIsKilled_althoughTheWatchFailed() throws Exception {
        int former = cluster.awaitLeader();
        int follower = after(former);
        TcpProxy proxy = opened(TcpProxy.to(cluster.server(follower).httpPort()));
        Lease lease = opened(at(proxy.url()).sessionTtl(LONG_TTL).build())
                .election("killed")
                .acquire();
        String session = consul(follower).session("killed");
        CompletableFuture<Lease> second =
                async(opened(at(before(former)).build()).election("killed")::acquire);
        awaitRenewal(lease);
        proxy.clearRequests();

        cluster.server(former).kill();
        assertThat(cluster.awaitLeaderOtherThan(former)).isNotEqualTo(former);
        await().atMost(SOON)
                .until(() -> proxy.requests().stream()
                        .map(RecordedRequest::requestLine)
                        .anyMatch(line -> line.contains("recurse") && !line.contains("index=")));
        awaitRenewal(lease);

        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(lease.requireToken().value()).isEqualTo(consul(follower).index("killed"));
        assertThat(consul(follower).session("killed")).isEqualTo(session);
        assertThat(second).isNotDone();
        lease.close();
        assertThat(second).succeedsWithin(PATIENCE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSameTermGoesOn_whenTheRaftLeaderIsFrozen(boolean severalAddresses) throws Exception {
        int former = cluster.awaitLeader();
        ConsulElections.Builder builder =
                severalAddresses ? at(former, after(former), before(former)) : at(after(former));
        String name = "frozen-" + severalAddresses;
        Lease lease =
                opened(builder.sessionTtl(LONG_TTL).build()).election(name).acquire();
        String session = consul(after(former)).session(name);
        awaitRenewal(lease);

        cluster.server(former).freeze();
        assertThat(cluster.awaitLeaderOtherThan(former)).isNotEqualTo(former);
        awaitRenewal(lease);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);

        cluster.server(former).resume();
        cluster.awaitHealthy();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(consul(former).session(name)).isEqualTo(session);
    }
}
