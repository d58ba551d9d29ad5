package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Lease;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Leases that are held for a minute, all during the same one. */
class LongRunIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RENEW = "PUT /v1/session/renew";

    private static ConsulServer server;
    private static TcpProxy slow;
    private static TcpProxy healthy;
    private static ConsulElections elections;
    private static Lease slowLease;
    private static ChildJvm idle;
    private static long began;

    @BeforeAll
    static void start() throws Exception {
        server = ConsulServer.start();
        healthy = TcpProxy.to(server.httpPort());
        idle = ChildJvm.start(
                IdleMain.class, List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"), healthy.url(), "idle");
        slow = TcpProxy.to(server.httpPort());
        elections = ConsulElections.builder(slow.url()).build();
        slowLease = elections.election("slow").acquire();
        slow.delay(Duration.ofSeconds(1));
        idle.awaitLine("leads ", PATIENCE);
        began = System.nanoTime();
    }

    @AfterAll
    static void stop() {
        elections.close();
        idle.close();
        slow.close();
        healthy.close();
        server.close();
    }

    private static boolean isOver() {
        return System.nanoTime() - began > LONG.toNanos();
    }

    private static long renewals(TcpProxy proxy) {
        return proxy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line -> line.startsWith(RENEW))
                .count();
    }

    @Test
    void answersThatAreASecondLate_areNoLoss() {
        await().atMost(LONG.plus(PATIENCE)).until(() -> !slowLease.isHeld() || isOver());
        assertThat(slowLease.lossReason()).isEmpty();
        assertThat(slowLease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(renewals(slow)).isGreaterThanOrEqualTo(17);
    }

    @Test
    void idleAtTheDefaults_losesNothing_andLogsNeitherWarningsNorErrors() {
        await().atMost(LONG.plus(PATIENCE)).until(LongRunIT::isOver);
        idle.send("tell");
        idle.awaitLine("held, no loss", PATIENCE);
        assertThat(idle.lines()).hasSize(2); // whatever is logged would be there too
        assertThat(renewals(healthy)).isBetween(17L, 24L);
        assertThat(healthy.acceptedConnections()).as("none was made anew").isLessThanOrEqualTo(4);
        List<String> watches = healthy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line -> line.contains("recurse"))
                .toList();
        assertThat(watches).as("several cycles of the watch").hasSizeBetween(5, 12);
    }
}
