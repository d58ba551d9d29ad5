package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Heartbeats to a real agent, and what happens without them. Each test has a service name of its own. */
@ExtendWith(SharedServers.class)
class FailureDetectionIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final ConsulServer server;
    private final Consul consul;

    FailureDetectionIT(ConsulServer server) {
        this.server = server;
        this.consul = new Consul(server);
    }

    /** The checks of a service that the agent knows, with their state. */
    private static List<JsonObject> checks(ConsulServer server, String service) {
        return JsonParser.parseString(server.get("/v1/agent/checks")).getAsJsonObject().entrySet().stream()
                .map(entry -> entry.getValue().getAsJsonObject())
                .filter(check -> check.get("ServiceName").getAsString().equals(service))
                .collect(Collectors.toList());
    }

    private static JsonObject session(ConsulServer server, String id) {
        return JsonParser.parseString(server.get("/v1/session/info/" + id))
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void bindsTheSessionToOneCheckOfItsOwn_andLeavesNothingAfterClose() throws Exception {
        String service = "bound-to-one-check";
        try (ConsulElections elections =
                consul.quick().failureDetection(PERIOD, service).build()) {
            Lease lease = elections.election(service).acquire();
            JsonObject session = session(server, consul.session(service));
            List<JsonObject> checks = checks(server, service);
            assertThat(checks).hasSize(1);
            assertThat(checks.get(0).get("Status").getAsString()).isEqualTo("passing");
            assertThat(session.get("NodeChecks")).isIn(List.of(new JsonArray(), JsonNull.INSTANCE));
            JsonArray bound = session.getAsJsonArray("ServiceChecks");
            assertThat(bound.asList().stream()
                            .map(JsonElement::getAsJsonObject)
                            .map(check -> check.get("ID").getAsString()))
                    .containsExactly(checks.get(0).get("CheckID").getAsString());
            assertThat(session.get("LockDelay").getAsLong()).isZero();
            assertThat(lease.remaining())
                    .isLessThanOrEqualTo(PERIOD.multipliedBy(4).dividedBy(5));
            await().during(PERIOD.multipliedBy(3)).atMost(PATIENCE).until(lease::isHeld);
        }
        assertThat(checks(server, service)).isEmpty();
        assertThat(server.get("/v1/catalog/service/" + service)).isEqualTo("[]");
    }

    @Test
    void aKilledProcessIsReplacedAfterThePeriod_andItsServiceIsGoneAfterAboutAMinute() throws Exception {
        String name = "killed-and-detected";
        try (ChildJvm holder = holder(name, PERIOD.toString());
                ChildJvm undetected = holder(name + "-control");
                Elections elections = consul.quick().build()) {
            long token = token(holder.awaitLine("leads ", PATIENCE));
            String unused = undetected.awaitLine("leads ", PATIENCE);
            undetected.kill();
            holder.kill();
            long killed = System.nanoTime();
            Lease next = elections.election(name).acquire();
            assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(PERIOD.plus(SOON));
            assertThat(next.requireToken().value()).isGreaterThan(token);
            assertThat(elections.election(name + "-control").tryAcquire())
                    .as("without failure detection the session lives on")
                    .isEmpty();
            assertThat(checks(server, name)).hasSize(1);
            await().atMost(Duration.ofMinutes(3))
                    .until(() -> checks(server, name).isEmpty());
        }
    }

    @Test
    void aPauseOfTheWholeProcess_losesTheLeaseForGood() throws Exception {
        String name = "paused-and-detected";
        try (ChildJvm holder = holder(name, PERIOD.toString());
                Elections elections = consul.quick().build()) {
            long token = token(holder.awaitLine("leads ", PATIENCE));
            holder.freeze();
            Lease next = elections.election(name).acquire();
            Thread.sleep(3_000); // the holder takes only a long gap for a freeze
            holder.resume();
            assertThat(holder.awaitLine("woke ", PATIENCE)).isEqualTo("woke lost");
            assertThat(holder.awaitLine("later ", PATIENCE)).startsWith("later lost");
            assertThat(next.isHeld()).isTrue();
            assertThat(next.fencingToken().value()).isGreaterThan(token);
        }
    }

    @Test
    void aDestroyedSessionIsNoticed_althoughHeartbeatsAreAnswered() throws Exception {
        String service = "destroyed-while-beating";
        try (TcpProxy proxy = TcpProxy.to(server.httpPort());
                ConsulElections elections = ConsulElections.builder(proxy.url())
                        .lockDelay(Duration.ZERO)
                        .failureDetection(PERIOD, service)
                        .build()) {
            Lease lease = elections.election(service).acquire();
            proxy.clearRequests();
            server.destroySession(consul.session(service));
            assertThat(lease.lost().toCompletableFuture().get(5, TimeUnit.SECONDS))
                    .isEqualTo(LossReason.SESSION_EXPIRED);
            await().atMost(SOON).until(() -> checks(server, service).isEmpty());
            try (Lease next = elections.election(service).acquire()) {
                assertThat(next.fencingToken().value())
                        .isGreaterThan(lease.fencingToken().value());
            }
        }
    }

    @Test
    void renewalsThatFail_costTheLeaseByTheDeadlineOfTheTtl_althoughHeartbeatsPass() throws Exception {
        String service = "beating-without-renewal";
        Duration ttl = Duration.ofSeconds(10);
        Duration term = Duration.ofSeconds(8);
        try (TcpProxy proxy = TcpProxy.to(server.httpPort());
                ConsulElections elections = ConsulElections.builder(proxy.url())
                        .sessionTtl(ttl)
                        .lockDelay(Duration.ZERO)
                        .failureDetection(PERIOD, service)
                        .build()) {
            List<CompletableFuture<Void>> failed = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                failed.add(proxy.failNextAnswer(line -> line.startsWith("PUT /v1/session/renew/"), 500));
            }
            long before = System.nanoTime();
            Lease lease = elections.election(service).acquire();
            long granted = System.nanoTime();
            await().atMost(term.plus(SOON)).pollInterval(Duration.ofMillis(20)).until(() -> !lease.isHeld());
            long lost = System.nanoTime();
            assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
            assertThat(Duration.ofNanos(lost - before))
                    .as("heartbeats kept it for several of their terms")
                    .isGreaterThan(term);
            assertThat(Duration.ofNanos(lost - granted)).isLessThan(ttl);
            assertThat(failed).filteredOn(CompletableFuture::isDone).hasSizeGreaterThan(1);
            assertThat(failed).last().matches(rule -> !rule.isDone(), "no renewal ever passed");
        }
    }

    @Test
    void anotherAddressIsANewGeneration() throws Exception {
        String service = "pinned-to-one-address";
        try (TcpProxy first = TcpProxy.to(server.httpPort());
                TcpProxy second = TcpProxy.to(server.httpPort());
                ConsulElections elections = ConsulElections.builder(first.url(), second.url())
                        .lockDelay(Duration.ZERO)
                        .failureDetection(PERIOD, service)
                        .build()) {
            Election election = elections.election(service);
            Lease lease = election.acquire();
            String session = consul.session(service);
            first.refuse();
            first.cut();
            assertThat(lease.lost().toCompletableFuture().get(5, TimeUnit.SECONDS))
                    .isEqualTo(LossReason.DEADLINE_EXCEEDED);
            try (Lease next = election.acquire()) {
                assertThat(next.fencingToken().value())
                        .isGreaterThan(lease.fencingToken().value());
                assertThat(consul.session(service)).isNotEqualTo(session);
                await().during(PERIOD.multipliedBy(2)).atMost(PATIENCE).until(next::isHeld);
                assertThat(isBeating(second))
                        .as("heartbeats of the second generation")
                        .isTrue();
            }
        }
    }

    @Test
    void anAgentThatIsBackWithinThePeriod_costsNoLease() throws Exception {
        String service = "agent-back-in-time";
        try (ConsulServer own = ConsulServer.start();
                TcpProxy proxy = TcpProxy.to(own.httpPort());
                ConsulElections elections = ConsulElections.builder(proxy.url())
                        .sessionTtl(Duration.ofSeconds(40))
                        .failureDetection(Duration.ofSeconds(30), service)
                        .build()) {
            Lease lease = elections.election(service).acquire();
            // The agent keeps on disk what a heartbeat says, but not what the registration says.
            await().atMost(SOON).until(() -> isBeating(proxy));
            own.kill();
            own.restart();
            await().during(SOON).atMost(PATIENCE).until(lease::isHeld);
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
            assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(15));
        }
    }

    @Test
    void anAgentThatIsBackAfterThePeriod_costsEveryLease_andTheNextOneIsHeld() throws Exception {
        String service = "agent-back-too-late";
        try (ConsulServer own = ConsulServer.start();
                ConsulElections elections = new Consul(own)
                        .quick()
                        .failureDetection(Duration.ofSeconds(1), service)
                        .build()) {
            Election election = elections.election(service);
            Lease lease = election.acquire();
            own.kill();
            assertThat(lease.lost().toCompletableFuture().get(5, TimeUnit.SECONDS))
                    .isEqualTo(LossReason.DEADLINE_EXCEEDED);
            own.restart();
            Optional<Lease> next = election.tryAcquire(PATIENCE);
            assertThat(next).isPresent();
            assertThat(next.get().fencingToken().value())
                    .isGreaterThan(lease.fencingToken().value());
        }
    }

    private static boolean isBeating(TcpProxy proxy) {
        return proxy.requests().stream()
                .anyMatch(request -> request.requestLine().startsWith("PUT /v1/agent/check/pass/"));
    }

    /** Starts a process that leads, with a period of failure detection or without. */
    private ChildJvm holder(String name, String... period) {
        List<String> args = new ArrayList<>(
                List.of(server.url(), name, Duration.ofSeconds(10).toString()));
        args.addAll(List.of(period));
        return ChildJvm.start(HolderMain.class, List.of(), args.toArray(String[]::new));
    }

    private static long token(String line) {
        return Long.parseLong(line.substring(line.indexOf(' ') + 1));
    }
}
