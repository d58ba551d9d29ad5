package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two datacenters that deny everything to those without the right token: elections in the one the agent is not in. */
class TwoDatacentersAclIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String KEYS = "key_prefix \"ringfence/\" { policy = \"write\" }\n";
    private static final String SESSIONS = "session_prefix \"\" { policy = \"write\" }\n";
    private static final String SERVERS = "service \"consul\" { policy = \"read\" }\n";
    private static final String NODES = "node_prefix \"\" { policy = \"read\" }\n";
    /** What README and javadoc tell users to allow. */
    private static final String MINIMAL = KEYS + SESSIONS + SERVERS + NODES;

    private static final String RENEW = "PUT /v1/session/renew/";

    private static JoinedDatacenters datacenters;
    private static AclServer east;
    private static AclServer west;

    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile String token = "";

    @BeforeAll
    static void start() throws Exception {
        datacenters = new JoinedDatacenters(AclServer.config("east"));
        east = new AclServer(datacenters.east());
        west = new AclServer(datacenters.west(), east);
    }

    @AfterAll
    static void stop() {
        datacenters.close();
    }

    @AfterEach
    void close() throws Exception {
        for (int i = open.size(); i-- > 0; ) {
            open.get(i).close();
        }
    }

    private static AclServer in(String datacenter) {
        return datacenter.equals("east") ? east : west;
    }

    private static String other(String datacenter) {
        return datacenter.equals("east") ? "west" : "east";
    }

    private TcpProxy proxyTo(AclServer agent) {
        TcpProxy proxy = TcpProxy.to(agent.server().httpPort());
        open.add(proxy);
        return proxy;
    }

    private Elections elections(TcpProxy proxy, String datacenter) {
        Elections elections = ConsulElections.builder(proxy.url())
                .datacenter(datacenter)
                .aclToken(() -> token)
                .lockDelay(Duration.ZERO)
                .build();
        open.add(elections);
        return elections;
    }

    private Elections westThroughEast() {
        return elections(proxyTo(east), "west");
    }

    private static JsonObject key(AclServer consul, String name) {
        return consul.manage("GET", "/v1/kv/ringfence/" + name, "")
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
    }

    private static JsonArray sessions(AclServer consul) {
        return consul.manage("GET", "/v1/session/list", "").getAsJsonArray();
    }

    private static String keys(AclServer consul) {
        return consul.manage("GET", "/v1/kv/?keys", "").toString();
    }

    private static long count(TcpProxy proxy, String part) {
        return proxy.requests().stream()
                .filter(request -> request.requestLine().contains(part))
                .count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"east", "west"})
    void theDocumentedPolicyIsEnough_inThePrimaryAndInTheSecondary(String datacenter) throws Exception {
        AclServer there = in(datacenter);
        AclServer here = in(other(datacenter));
        TcpProxy proxy = proxyTo(here);
        token = west.token(MINIMAL);
        String name = "minimal-" + datacenter;
        Elections firstElections = elections(proxy, datacenter);
        Elections secondElections = elections(proxy, datacenter);
        Election first = firstElections.election(name);
        Election second = secondElections.election(name);
        Lease lease = first.acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(lease.requireToken().value())
                .isEqualTo(key(there, name).get("ModifyIndex").getAsLong());
        assertThat(second.leader()).contains(lease.holder());
        assertThat(second.tryAcquire()).isEmpty();
        assertThat(sessions(there))
                .isNotEmpty()
                .allSatisfy(session -> assertThat(
                                session.getAsJsonObject().get("Node").getAsString())
                        .isEqualTo(node(there)));

        Lease next = takesOverFrom(lease, second, proxy);
        Lease last = takesOverFromTheDestroyedSessionOf(next, first, there);

        long renewals = count(proxy, RENEW);
        await().atMost(SOON).until(() -> count(proxy, RENEW) > renewals + 2);
        assertThat(last.isHeld()).isTrue();
        firstElections.close();
        secondElections.close();
        assertThat(key(there, name).has("Session")).isFalse();
        await().atMost(SOON).until(() -> sessions(there).isEmpty()); // those of other tests too
        assertThat(keys(there)).contains(name);
        assertThat(keys(here)).as("nothing in the agent's own datacenter").doesNotContain(name);
    }

    private static Lease takesOverFrom(Lease lease, Election candidate, TcpProxy proxy) throws Exception {
        CompletableFuture<Lease> waiting = OnACluster.async(candidate::acquire);
        await().atMost(SOON).until(() -> count(proxy, "recurse&index=") > 0);
        long released = System.nanoTime();
        lease.close();
        Lease next = waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(Duration.ofNanos(System.nanoTime() - released))
                .as("the watch told, before its wait of ten seconds was over")
                .isLessThan(Duration.ofSeconds(3));
        assertThat(next.requireToken()).isGreaterThan(lease.fencingToken());
        return next;
    }

    private static Lease takesOverFromTheDestroyedSessionOf(Lease lease, Election candidate, AclServer there)
            throws Exception {
        CompletableFuture<Lease> waiting = OnACluster.async(candidate::acquire);
        String session = key(there, lease.election()).get("Session").getAsString();
        JsonElement unused = there.manage("PUT", "/v1/session/destroy/" + session, "");
        Lease next = waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(next.requireToken()).isGreaterThan(lease.fencingToken());
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
        return next;
    }

    static Stream<Arguments> policiesThatLackARight() {
        return Stream.of(
                Arguments.of(SESSIONS + SERVERS + NODES, "Permission denied"),
                Arguments.of(KEYS + SERVERS + NODES, "Permission denied"),
                Arguments.of(KEYS + SESSIONS + NODES, "shows no server"),
                Arguments.of(KEYS + SESSIONS + SERVERS, "shows no server"));
    }

    @ParameterizedTest
    @MethodSource("policiesThatLackARight")
    void withoutOneOfItsRights_everyCallThatContendsSaysWhichAreNeeded(String policy, String reason) {
        token = west.token(policy);
        assertDenied(westThroughEast().election("denied"), reason);
    }

    private static void assertDenied(Election election, String reason) {
        List<ThrowingCallable> calls =
                List.of(election::acquire, election::tryAcquire, () -> election.tryAcquire(Duration.ofSeconds(20)));
        for (ThrowingCallable call : calls) {
            long began = System.nanoTime();
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(call)
                    .withMessageContainingAll(
                            "denied access: ",
                            reason,
                            "key_prefix \"ringfence/\" write",
                            "session_prefix \"\" write in datacenter 'west'",
                            "service \"consul\" read",
                            "node_prefix \"\" read",
                            "aclToken(..)");
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void aNarrowerRuleForSessionsHasToNameTheServerThere_andTheNodeOfTheAgent() throws Exception {
        String theServer = sessionsOf(west);
        String both = theServer + sessionsOf(east);
        token = west.token(KEYS + SERVERS + NODES + theServer);
        assertDenied(westThroughEast().election("narrow"), "Permission denied");
        token = west.token(KEYS + SERVERS + NODES + both);
        Lease lease = westThroughEast().election("narrow").acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    private static String sessionsOf(AclServer consul) {
        return "session \"" + node(consul) + "\" { policy = \"write\" }\n";
    }

    private static String node(AclServer consul) {
        return "consul-" + consul.server().httpPort();
    }

    @Test
    void aTokenThatIsLocalToTheDatacenterOfTheElectionsIsEnough() throws Exception {
        token = west.localToken(MINIMAL);
        Lease lease = westThroughEast().election("local").acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void aTokenThatIsLocalToTheDatacenterOfTheAgentIsDenied() {
        token = east.localToken(MINIMAL);
        assertDenied(westThroughEast().election("foreign"), "Permission denied");
    }

    @Test
    void aRevokedTokenEndsTheLeaseAsAccessDenied_andAFreshOneLeadsAgain() throws Exception {
        token = west.token(MINIMAL);
        Election election = westThroughEast().election("revoked");
        Lease lease = election.acquire();
        west.revoke(token);
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON).isEqualTo(LossReason.ACCESS_DENIED);
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(election::tryAcquire)
                .withMessageContaining("denied access");
        token = west.token(MINIMAL);
        Lease next = election.tryAcquire(Duration.ofSeconds(25)).orElseThrow();
        assertThat(next.requireToken()).isGreaterThan(lease.fencingToken());
    }
}
