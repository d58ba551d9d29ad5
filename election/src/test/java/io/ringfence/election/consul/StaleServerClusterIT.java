package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server sleeps while the key, which was free, is locked at the others. When it wakes up it answers what it was asked
 * meanwhile from what it knew: the control shows that it does.
 */
@ResourceLock(OnACluster.IN_TIME)
class StaleServerClusterIT extends OnACluster {
    private static final int ROUNDS = 6;
    private static final int READS = 20;

    /** So long that the others give up sending to it, which would otherwise bring it up to date as it wakes up. */
    private static final long SLEEP_MILLIS = 2_000;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerThatMissedTheLock_makesNoSecondLeader(boolean itLedTheServers) throws Exception {
        String name = "stale-" + itLedTheServers;
        boolean sawStale = false;
        for (int round = 0; round < ROUNDS && !sawStale; round++) {
            int leader = cluster.awaitLeader();
            sawStale = round(itLedTheServers ? leader : after(leader), name);
            heal();
        }
        assertThat(sawStale).as("the server was behind at least once").isTrue();
    }

    private boolean round(int sleeper, String name) throws Exception {
        TcpProxy proxy = opened(TcpProxy.to(cluster.server(sleeper).httpPort()));
        Election through = opened(
                        at(proxy.url()).holder("through").sessionTtl(LONG_TTL).build())
                .election(name);
        through.acquire().close();
        Election others = opened(
                        at(after(sleeper), before(sleeper)).holder("others").build())
                .election(name);
        assertThat(through.leader()).isEmpty();
        assertThat(others.leader()).isEmpty(); // who has had an answer once waits for another Raft leader

        cluster.server(sleeper).freeze();
        Lease lease = others.tryAcquire(PATIENCE).orElseThrow();
        proxy.clearRequests();
        String path = "/v1/kv/ringfence/" + name + "?stale";
        List<CompletableFuture<String>> stale = Stream.generate(() -> async(() -> read(proxy.url() + path)))
                .limit(READS)
                .toList();
        CompletableFuture<Optional<String>> leader = async(through::leader);
        CompletableFuture<Optional<Lease>> tried = async(through::tryAcquire);
        awaitRequest(proxy, "GET " + path);
        awaitRequest(proxy, "GET /v1/kv/ringfence/" + name + "?consistent");
        awaitRequest(proxy, "PUT /v1/txn");
        Thread.sleep(SLEEP_MILLIS);
        cluster.server(sleeper).resume();

        assertNamesOthers(leader);
        assertGetsNothing(tried);
        while (!asksSuccessfully(through)) {
            assertGetsNothing(async(through::tryAcquire));
        }
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        return stale.stream().anyMatch(answer -> !answer.join().contains("\"Session\""));
    }

    private static void awaitRequest(TcpProxy proxy, String requestLine) {
        await().atMost(SOON)
                .until(() -> proxy.requests().stream()
                        .map(RecordedRequest::requestLine)
                        .anyMatch(line -> line.startsWith(requestLine)));
    }

    private static String read(String url) throws Exception {
        try (InputStream body = URI.create(url).toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static boolean asksSuccessfully(Election election) throws Exception {
        return assertNamesOthers(async(election::leader));
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
