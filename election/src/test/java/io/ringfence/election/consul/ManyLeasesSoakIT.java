package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many leases at default settings for a long time, in a process whose heap is small and busy. */
@Tag("soak")
class ManyLeasesSoakIT {
    private static final Duration DURATION = Duration.ofMinutes(Integer.getInteger("soak.minutes", 10));
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration HALF_TTL = ConsulElections.Builder.DEFAULT_SESSION_TTL.dividedBy(2);
    private static final String RENEW = "PUT /v1/session/renew/";

    private final List<String> names =
            IntStream.range(0, 100).mapToObj(number -> "soak/" + number).toList();

    @Test
    void aHundredLeasesStayHeld_andNoRenewalIsLate_whileAHundredCallersWait() {
        try (ConsulServer server = ConsulServer.start();
                TcpProxy holding = TcpProxy.to(server.httpPort());
                TcpProxy waiting = TcpProxy.to(server.httpPort());
                ChildJvm holder = ChildJvm.start(SoakHolderMain.class, List.of("-Xmx64m"), arguments(holding))) {
            holder.awaitLine("holds " + names.size(), PATIENCE);
            try (Elections others = ConsulElections.builder(waiting.url()).build()) {
                List<CompletableFuture<Lease>> next =
                        names.stream().map(name -> contend(others, name)).toList();
                await().pollInterval(Duration.ofSeconds(1))
                        .during(DURATION)
                        .atMost(DURATION.plus(PATIENCE))
                        .failFast("a lease was lost, or won by a second holder", () -> isLost(holder, next))
                        .until(() -> true);
                holder.send("tell");
                String told = holder.awaitLine("held ", PATIENCE);
                System.out.println("Soak of " + DURATION + ": " + told);
                assertThat(told).startsWith("held " + names.size() + ":");
                assertOnTime("the holder", holding, DURATION);
                assertOnTime("those that wait", waiting, DURATION);
            }
        }
    }

    private String[] arguments(TcpProxy consul) {
        List<String> arguments = new ArrayList<>(names);
        arguments.add(0, consul.url());
        return arguments.toArray(String[]::new);
    }

    private static boolean isLost(ChildJvm holder, List<CompletableFuture<Lease>> next) {
        return next.stream().anyMatch(CompletableFuture::isDone)
                || holder.lines().stream().anyMatch(line -> line.startsWith("lost "));
    }

    private static CompletableFuture<Lease> contend(Elections elections, String name) {
        CompletableFuture<Lease> lease = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                lease.complete(elections.election(name).acquire());
            } catch (InterruptedException | RuntimeException e) {
                lease.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return lease;
    }

    private static void assertOnTime(String who, TcpProxy proxy, Duration duration) {
        List<RecordedRequest> renewals = new ArrayList<>(proxy.requests());
        renewals.removeIf(request -> !request.requestLine().startsWith(RENEW));
        assertThat(renewals).hasSizeGreaterThan((int) duration.dividedBy(HALF_TTL));
        assertThat(renewals)
                .as("one session for all")
                .extracting(RecordedRequest::requestLine)
                .containsOnly(renewals.get(0).requestLine());
        Duration longest = Duration.ZERO;
        for (int i = 1; i < renewals.size(); i++) {
            Duration gap = renewals.get(i).after(renewals.get(i - 1));
            longest = gap.compareTo(longest) > 0 ? gap : longest;
        }
        System.out.println("Soak: " + who + " renewed " + renewals.size() + " times, at most " + longest.toMillis()
                + " ms apart, in " + proxy.requests().size() + " requests on at most " + proxy.maxOpenConnections()
                + " connections");
        assertThat(longest).isLessThan(HALF_TTL);
    }
}
