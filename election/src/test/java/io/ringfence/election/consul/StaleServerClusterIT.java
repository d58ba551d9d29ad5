package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server sleeps while the key, which was free, is locked at the others; these are frozen when it wakes up. So it is alone,
 * and answers from what it knew: the control shows that it does.
 */
@ResourceLock(OnACluster.IN_TIME)
class StaleServerClusterIT extends OnACluster {
    private static final Duration TTL = Duration.ofSeconds(40); // no session ends during all this
    private static final int WRITES = 100;
    private static final int WRITTEN_BYTES = 400_000;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerThatMissedTheLock_makesNoSecondLeader(boolean itLedTheServers) throws Exception {
        String name = "stale-" + itLedTheServers;
        int leader = cluster.awaitLeader();
        int sleeper = itLedTheServers ? leader : after(leader);
        TcpProxy proxy = opened(TcpProxy.to(cluster.server(sleeper).httpPort()));
        Election through = opened(
                        at(proxy.url()).holder("through").sessionTtl(TTL).build())
                .election(name);
        through.acquire().close();
        Election others = opened(at(after(sleeper), before(sleeper))
                        .holder("others")
                        .sessionTtl(TTL)
                        .build())
                .election(name);
        assertThat(others.leader()).isEmpty();

        await().atMost(SOON).until(() -> !stale(sleeper, name).contains("\"Session\""));
        cluster.server(sleeper).freeze();
        cluster.awaitLeaderOtherThan(itLedTheServers ? sleeper : -1);
        giveWorkToCatchUpWith(cluster.server(after(sleeper)));
        Lease lease = others.tryAcquire(PATIENCE).orElseThrow();
        cluster.server(after(sleeper)).freeze();
        cluster.server(before(sleeper)).freeze();
        proxy.clearRequests();
        CompletableFuture<Optional<String>> named = async(through::leader);
        CompletableFuture<Optional<Lease>> tried = async(through::tryAcquire);
        awaitRequest(proxy, "GET /v1/kv/ringfence/" + name + "?consistent");
        awaitRequest(proxy, "PUT /v1/txn");
        cluster.server(sleeper).resume();

        assertThat(stale(sleeper, name))
                .as("it does not know of the lock")
                .contains(name)
                .doesNotContain("\"Session\"");
        assertNamesOthers(named);
        assertGetsNothing(tried);

        cluster.server(after(sleeper)).resume();
        cluster.server(before(sleeper)).resume();
        do {
            assertGetsNothing(async(through::tryAcquire));
        } while (!assertNamesOthers(async(through::leader)));
        await().atMost(SOON).until(() -> lease.confirm() == Lease.Confirmation.CONFIRMED);
    }

    private String stale(int server, String name) {
        return cluster.server(server).get("/v1/kv/ringfence/" + name + "?stale");
    }

    /** More than fits into the buffers on the way to a server that sleeps: it gets the lock only after all this. */
    private static void giveWorkToCatchUpWith(ConsulServer server) {
        String value = "x".repeat(WRITTEN_BYTES);
        for (int i = 0; i < WRITES; i++) {
            server.put("/v1/kv/work", value + i);
        }
    }

    private static void awaitRequest(TcpProxy proxy, String requestLine) {
        await().atMost(SOON)
                .until(() -> proxy.requests().stream()
                        .map(RecordedRequest::requestLine)
                        .anyMatch(line -> line.startsWith(requestLine)));
    }

    /** An error is no wrong answer; returns whether there was a right one. */
    private static boolean assertNamesOthers(CompletableFuture<Optional<String>> leader) throws Exception {
        try {
            assertThat(leader.get(SOON.toSeconds(), TimeUnit.SECONDS)).contains("others");
            return true;
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(ElectionException.class);
            return false;
        }
    }

    private static void assertGetsNothing(CompletableFuture<Optional<Lease>> tried) throws Exception {
        try {
            assertThat(tried.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEmpty();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(ElectionException.class);
        }
    }
}
