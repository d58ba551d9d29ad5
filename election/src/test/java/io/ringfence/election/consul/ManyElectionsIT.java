package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Elections;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * One process, which holds a thousand elections and waits for a thousand more, at a Consul that allows a client the 200
 * connections it allows by default. What that costs is printed.
 */
class ManyElectionsIT {
    private static final String PREFIX = "many/";
    private static final int COUNT = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final String RENEW = "PUT /v1/session/renew";
    private static final double MOST_BYTES_PER_SECOND = 10_000_000;

    private record Report(long threads, long heapKilobytes, long leastRemainingMillis, long held) {}

    @Test
    void aThousandHeldAndAThousandWaitedFor_costSixteenThreadsAndFourConnections_andNoWriteWhileIdle()
            throws Exception {
        try (ConsulServer server = ConsulServer.start("{\"limits\": {\"http_max_conns_per_client\": 200}}");
                TcpProxy proxy = TcpProxy.to(server.httpPort());
                Elections others = new Consul(server, PREFIX).quick().build();
                ChildJvm process = ChildJvm.start(
                        ManyElectionsMain.class, List.of("-Xmx256m"), proxy.url(), PREFIX, Integer.toString(COUNT))) {
            holdAll(others);
            Burst holding = new Burst(proxy);
            process.send("hold");
            process.awaitLine("held ", PATIENCE);
            holding.endedBy("to hold " + COUNT);
            process.send("wait");
            process.awaitLine("waiting", PATIENCE);
            awaitQuiet(proxy);

            assertOnlyRenewalsAndWatching(idle(proxy));
            assertCheap(proxy, report(process, 1), COUNT);

            Burst taking = new Burst(proxy);
            giveBack(others);
            process.awaitLine("led " + COUNT, PATIENCE);
            taking.endedBy("to take over " + COUNT);
            assertCheap(proxy, report(process, 2), 2 * COUNT);
        }
    }

    private static void holdAll(Elections others) throws Exception {
        AtomicInteger next = new AtomicInteger();
        Consul.atOnce(8, () -> {
            for (int i = next.getAndIncrement(); i < COUNT; i = next.getAndIncrement()) {
                others.election("taken/" + i).acquire();
            }
            return null;
        });
    }

    private static void giveBack(Elections others) {
        others.close();
    }

    /** Waits until two seconds have brought no request but those that idle processes send. */
    private static void awaitQuiet(TcpProxy proxy) {
        await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(2)).until(() -> {
            boolean quiet = lines(proxy).stream().allMatch(ManyElectionsIT::isIdleRequest);
            proxy.clearRequests();
            return quiet;
        });
    }

    private static List<String> idle(TcpProxy proxy) throws InterruptedException {
        proxy.clearRequests();
        Thread.sleep(IDLE.toMillis());
        return lines(proxy);
    }

    private static void assertOnlyRenewalsAndWatching(List<String> lines) {
        long renewals = lines.stream().filter(line -> line.startsWith(RENEW)).count();
        System.out.printf(
                "1,000 held and 1,000 waited for: in %d s without a change %d renewals and %d watches%n",
                IDLE.toSeconds(), renewals, lines.size() - renewals);
        assertThat(lines).allMatch(ManyElectionsIT::isIdleRequest);
        assertThat(renewals).isBetween(8L, 12L);
        assertThat(lines.size() - renewals).isBetween(2L, 5L);
    }

    private static boolean isIdleRequest(String line) {
        return line.startsWith(RENEW) || line.startsWith("GET /v1/kv/" + PREFIX + "?recurse&index=");
    }

    private static void assertCheap(TcpProxy proxy, Report report, int held) {
        System.out.printf("1,000 elections: %s, at most %d connections%n", report, proxy.maxOpenConnections());
        assertThat(report.held()).isEqualTo(held);
        assertThat(report.threads()).isLessThanOrEqualTo(16);
        assertThat(proxy.maxOpenConnections()).isLessThanOrEqualTo(4);
        assertThat(report.leastRemainingMillis())
                .as("ttl - margin is 8 s, and a renewal is due after at most 3.3 s")
                .isGreaterThan(3_000);
        assertThat(report.heapKilobytes()).as("with a thousand callers").isLessThan(64 * 1024);
    }

    private static Report report(ChildJvm process, int number) {
        process.send("report");
        await().atMost(PATIENCE)
                .until(() -> process.lines().stream()
                                .filter(line -> line.startsWith("report "))
                                .count()
                        == number);
        String last = process.lines().get(process.lines().size() - 1);
        long[] numbers = Arrays.stream(last.split(" "))
                .skip(1)
                .mapToLong(Long::parseLong)
                .toArray();
        return new Report(numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    private static List<String> lines(TcpProxy proxy) {
        return proxy.requests().stream().map(RecordedRequest::requestLine).toList();
    }

    /** What goes through the proxy while a thousand keys change one after the other. */
    private static final class Burst {
        private final TcpProxy proxy;
        private final long began = System.nanoTime();
        private final long bytes;

        Burst(TcpProxy proxy) {
            this.proxy = proxy;
            this.bytes = proxy.answeredBytes();
            proxy.clearRequests();
        }

        void endedBy(String what) {
            double seconds = (System.nanoTime() - began) / 1e9;
            double perSecond = (proxy.answeredBytes() - bytes) / seconds;
            System.out.printf(
                    "1,000 elections: %.1f s %s, %d requests, %.1f MB/s%n",
                    seconds, what, proxy.requests().size(), perSecond / 1e6);
            assertThat(perSecond).as("bytes per second while keys change").isLessThan(MOST_BYTES_PER_SECOND * 1.3);
        }
    }
}
