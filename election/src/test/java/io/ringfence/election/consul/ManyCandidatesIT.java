package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Leadership that passes on many times, between two processes and among fifty. */
@ExtendWith(SharedServers.class)
class ManyCandidatesIT {
    private static final String PREFIX = "candidates/";
    private static final Duration A_READ_TAKES_LESS = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TRANSACTION = "PUT /v1/txn";

    private final Consul consul;
    private final TcpProxy proxy;
    private final List<Elections> open = new ArrayList<>();

    ManyCandidatesIT(ConsulServer server) {
        this.consul = new Consul(server, PREFIX);
        this.proxy = TcpProxy.to(server.httpPort());
    }

    @AfterEach
    void close() {
        open.forEach(Elections::close);
        proxy.close();
    }

    private Elections candidate(String holder) {
        Elections elections = ConsulElections.builder(proxy.url())
                .keyPrefix(PREFIX)
                .lockDelay(Duration.ZERO)
                .holder(holder)
                .build();
        open.add(elections);
        return elections;
    }

    private long count(String requestLine) {
        return proxy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line -> line.startsWith(requestLine))
                .count();
    }

    @Test
    void fiftyCandidatesForOneKey_releasedFiftyTimes_tryAtMostOncePerReleaseEach() throws Exception {
        int candidates = 50;
        Election holding = candidate("first").election("crowd");
        Lease held = holding.acquire();
        BlockingQueue<Lease> leaders = new LinkedBlockingQueue<>();
        ExecutorService callers = Executors.newFixedThreadPool(candidates);
        for (int i = 0; i < candidates; i++) {
            Election election = candidate("crowd").election("crowd");
            Future<?> unused = callers.submit(() -> leaders.add(election.acquire()));
        }
        await().atMost(PATIENCE).until(() -> consul.sessionsOf("crowd") == candidates);
        awaitQuiet();

        List<Duration> took = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < candidates; i++) {
            long released = System.nanoTime();
            held.close();
            Lease next = leaders.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            took.add(Duration.ofNanos(System.nanoTime() - released));
            assertThat(next).isNotNull();
            assertThat(next.requireToken()).isGreaterThan(held.fencingToken());
            held = next;
        }
        held.close();
        callers.shutdownNow();

        long releases = candidates + 1L;
        long attempts = count(TRANSACTION) - releases;
        long reads = proxy.requests().stream()
                .filter(request -> request.requestLine().contains("consistent"))
                .count();
        System.out.printf(
                "50 candidates, 50 releases in %d ms: %d lock attempts, %d reads of the key, %d requests; %s%n",
                Duration.ofNanos(System.nanoTime() - began).toMillis(),
                attempts,
                reads,
                proxy.requests().size(),
                percentiles(took));
        // Each release wakes all who still wait: 50 + 49 + .. + 1 attempts, and a refused one reads once.
        assertThat(attempts).isBetween(50L, 50L * 51 / 2);
        assertThat(reads).isLessThanOrEqualTo(50L * 51 / 2 + 100);
        assertThat(percentile(took, 95)).isLessThan(Duration.ofSeconds(1));
        assertThat(consul.sessionsOf("crowd")).isEqualTo(candidates);
        assertThat(count("PUT /v1/session/create")).isZero();
    }

    /** Forgets the requests so far, when a second has brought no more than those that idle processes send. */
    private void awaitQuiet() {
        await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(1)).until(() -> {
            boolean quiet = count(TRANSACTION) == 0 && count("PUT /v1/session/create") == 0;
            proxy.clearRequests();
            return quiet;
        });
    }

    @Test
    void twoContendersHandOverTwoHundredTimes_quickly_andMakeNoSessions() throws Exception {
        Election first = candidate("pair").election("pair");
        Election second = candidate("pair").election("pair");
        first.acquire().close();
        second.acquire().close();
        proxy.clearRequests();

        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        List<Duration> took = new ArrayList<>();
        ExecutorService caller = Executors.newSingleThreadExecutor();
        Lease held = first.acquire();
        for (int i = 0; i < 200; i++) {
            Election next = i % 2 == 0 ? second : first;
            long reads = count("GET /v1/kv/" + PREFIX + "pair");
            Future<Lease> waiting = caller.submit(next::acquire);
            // It waits once it has read the key, if no read was under way already.
            long called = System.nanoTime();
            await().pollInterval(Duration.ofMillis(1))
                    .until(() -> count("GET /v1/kv/" + PREFIX + "pair") > reads
                            || System.nanoTime() - called > A_READ_TAKES_LESS.toNanos());
            tokens.add(held.requireToken().value());
            long released = System.nanoTime();
            held.close();
            held = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            took.add(Duration.ofNanos(System.nanoTime() - released));
        }
        caller.shutdownNow();

        System.out.println("200 hand-overs between two: " + percentiles(took));
        assertThat(new ArrayList<>(tokens)).isSorted().doesNotHaveDuplicates().hasSize(200);
        assertThat(percentile(took, 95)).isLessThan(Duration.ofMillis(500));
        assertThat(count("PUT /v1/session/create")).isZero();
        assertThat(count("PUT /v1/session/destroy")).isZero();
        assertThat(consul.sessionsOf("pair")).isEqualTo(2);
    }

    private static Duration percentile(List<Duration> took, int percent) {
        return took.stream().sorted().toList().get((took.size() - 1) * percent / 100);
    }

    private static String percentiles(List<Duration> took) {
        return "a new leader after " + percentile(took, 50).toMillis() + " ms (median), "
                + percentile(took, 95).toMillis() + " ms (p95), "
                + percentile(took, 100).toMillis() + " ms (longest)";
    }
}
