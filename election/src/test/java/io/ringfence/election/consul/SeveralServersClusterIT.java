package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.Lease;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The addresses of all three servers, of which the one in use dies. */
@ResourceLock(OnACluster.IN_TIME)
class SeveralServersClusterIT extends OnACluster {

    @Test
    void aHeldLeaseIsNotLost_whenTheServerInUseIsKilled_andThenTheNext() throws Exception {
        int first = cluster.awaitLeader();
        int second = after(first);
        Lease lease = opened(
                        at(first, second, before(first)).sessionTtl(LONG_TTL).build())
                .election("job")
                .acquire();
        String session = consul(second).session("job");
        for (int inUse : new int[] {first, second}) {
            awaitRenewal(lease);
            cluster.server(inUse).kill();
            cluster.awaitLeaderOtherThan(inUse);
            awaitRenewal(lease);
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
            cluster.heal();
        }
        assertThat(lease.requireToken().value()).isEqualTo(consul(first).index("job"));
        assertThat(consul(first).session("job")).isEqualTo(session);
    }
}
