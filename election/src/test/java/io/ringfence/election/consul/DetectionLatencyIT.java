package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long after the death of a leading process another one leads, with a lock delay of zero; the figures are printed. */
@ExtendWith(SharedServers.class)
class DetectionLatencyIT {
    private static final int SAMPLES = Integer.getInteger("detection.samples", 5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ConsulServer server;
    private final Consul consul;

    DetectionLatencyIT(ConsulServer server) {
        this.server = server;
        this.consul = new Consul(server);
    }

    @ParameterizedTest
    @CsvSource({"PT1S, PT3S", "PT0.3S, PT1.35S"})
    void aDeadProcessIsReplacedAboutAPeriodLater(Duration period, Duration limit) throws Exception {
        double[] taken = new double[SAMPLES];
        String name = "detection-" + period.toMillis();
        try (Elections elections = consul.quick().build()) {
            for (int i = 0; i < SAMPLES; i++) {
                try (ChildJvm holder =
                        ChildJvm.start(HolderMain.class, List.of(), server.url(), name, "PT10S", period.toString())) {
                    String unused = holder.awaitLine("leads ", PATIENCE);
                    CompletableFuture<Long> next = CompletableFuture.supplyAsync(() -> takeOver(elections, name));
                    TimeUnit.MILLISECONDS.sleep(
                            period.toMillis() * (i % 10) / 10 + 50); // a new phase of the heartbeats
                    holder.kill();
                    long killed = System.nanoTime();
                    taken[i] = next.get() - killed;
                }
            }
        }
        double median = LatencyIT.median(taken);
        System.out.printf("detection after %s: median %.0f ms, n = %d%n", period, median / 1e6, SAMPLES);
        assertThat(Duration.ofNanos((long) median)).isLessThan(limit);
    }

    private static long takeOver(Elections elections, String name) {
        try {
            Lease lease = elections.election(name).acquire();
            long acquired = System.nanoTime();
            lease.close();
            return acquired;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
