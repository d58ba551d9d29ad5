package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import com.ecwid.consul.v1.ConsulRawClient;
import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * How much longer our calls take than the bare requests that they cannot do without, on the same HTTP client, in turns. What
 * is asserted leaves room for a busy machine; the figures are printed.
 */
@Isolated
@ExtendWith(SharedServers.class)
class LatencyIT {
    /** Until the JVM has compiled what is measured. */
    private static final int WARM_UP = 300;

    private static final int SAMPLES = Integer.getInteger("latency.samples", 60);
    private static final double LIMIT = 3.9;

    private final Consul consul;
    private final ConsulRawClient raw;
    private final ConsulRawClient rawWatch;

    LatencyIT(ConsulServer server) {
        this.consul = new Consul(server, "latency/");
        this.raw = client(server);
        this.rawWatch = client(server);
    }

    private static ConsulRawClient client(ConsulServer server) {
        return new HttpConnections(1, Duration.ofSeconds(20), () -> null, null).client(URI.create(server.url()));
    }

    @Test
    void acquiringAFreeKeyTakesLittleLongerThanOneTransaction() throws Exception {
        double[] ours = new double[SAMPLES];
        double[] bare = new double[SAMPLES];
        String session = consul.foreignSession();
        try (Elections elections = consul.quick().build()) {
            Election election = elections.election("acquire");
            for (int i = -WARM_UP; i < SAMPLES; i++) {
                long start = System.nanoTime();
                Lease lease = election.acquire();
                long acquired = System.nanoTime();
                lease.close();
                long bareStart = System.nanoTime();
                transact(lock("acquire-bare", session));
                long locked = System.nanoTime();
                transact(operation("unlock", "acquire-bare", session));
                if (i >= 0) {
                    ours[i] = acquired - start;
                    bare[i] = locked - bareStart;
                }
            }
        }
        compare("acquire", ours, bare);
    }

    @Test
    void takingOverAfterAReleaseTakesLittleLongerThanAWakeUpAndOneTransaction() throws Exception {
        double[] ours = new double[SAMPLES];
        double[] bare = new double[SAMPLES];
        String first = consul.foreignSession();
        String second = consul.foreignSession();
        try (Elections some = consul.quick().build();
                Elections others = consul.quick().build()) {
            Lease lease = some.election("takeover").acquire();
            transact(lock("takeover-bare", first));
            for (int i = -WARM_UP / 6; i < SAMPLES; i++) {
                Election waiting = (i & 1) == 0 ? others.election("takeover") : some.election("takeover");
                CompletableFuture<Timed> next = CompletableFuture.supplyAsync(() -> acquire(waiting));
                Thread.sleep(20); // until it waits
                long released = System.nanoTime();
                lease.close();
                Timed taken = next.get();
                lease = taken.lease();
                double bareNanos = bareTakeover((i & 1) == 0 ? first : second, (i & 1) == 0 ? second : first);
                if (i >= 0) {
                    ours[i] = taken.at() - released;
                    bare[i] = bareNanos;
                }
            }
        }
        compare("takeover", ours, bare);
    }

    private record Timed(Lease lease, long at) {}

    private static Timed acquire(Election election) {
        try {
            return new Timed(election.acquire(), System.nanoTime());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private double bareTakeover(String from, String to) throws Exception {
        long index = consul.index("takeover-bare");
        CompletableFuture<Long> taken = CompletableFuture.supplyAsync(() -> {
            rawWatch.makeGetRequest("/v1/kv/latency/takeover-bare?index=" + index + "&wait=10s", List.of());
            transact(lock("takeover-bare", to));
            return System.nanoTime();
        });
        Thread.sleep(20); // until it waits
        long released = System.nanoTime();
        transact(operation("unlock", "takeover-bare", from));
        return taken.get() - released;
    }

    private void transact(String... operations) {
        String body = "[" + String.join(",", operations) + "]";
        assertThat(raw.makePutRequest("/v1/txn", body).getStatusCode()).isEqualTo(200);
    }

    private static String[] lock(String name, String session) {
        return new String[] {
            operation("lock", name, session), "{\"KV\": {\"Verb\": \"get\", \"Key\": \"latency/" + name + "\"}}"
        };
    }

    private static String operation(String verb, String name, String session) {
        return "{\"KV\": {\"Verb\": \"" + verb + "\", \"Key\": \"latency/" + name + "\", \"Session\": \"" + session
                + "\", \"Value\": \"\"}}";
    }

    private static void compare(String what, double[] ours, double[] bare) {
        double ratio = median(ours) / median(bare);
        System.out.printf(
                "%s: median %.2f ms, bare %.2f ms, ratio %.2f, n = %d%n",
                what, median(ours) / 1e6, median(bare) / 1e6, ratio, ours.length);
        assertThat(ratio).isLessThan(LIMIT);
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
