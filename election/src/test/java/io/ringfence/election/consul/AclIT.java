package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A Consul that denies everything to those without the right token. */
class AclIT {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String KEYS = "key_prefix \"ringfence/\" { policy = \"write\" }";
    private static final String SESSIONS = "session_prefix \"\" { policy = \"write\" }";
    private static final String RENEW = "PUT /v1/session/renew";
    private static final Pattern SESSION = Pattern.compile("\"Session\":\"([^\"]+)\"");
    private static final Pattern PATH =
            Pattern.compile("(FINEST: |Executing request )PUT \\S*/v1/session/(renew|destroy)/\\S+ ?(HTTP/1.1)?$");
    private static final String UNKNOWN = "00000000-0000-0000-0000-00000000beef";

    private static AclServer consul;

    private final TcpProxy proxy = newProxy();
    private final List<Elections> open = new ArrayList<>();
    private volatile String token = "";

    @BeforeAll
    static void start() {
        consul = new AclServer();
    }

    @AfterAll
    static void stop() {
        consul.close();
    }

    @AfterEach
    void close() {
        open.forEach(Elections::close);
        proxy.close();
    }

    private static TcpProxy newProxy() {
        return TcpProxy.to(consul.server().httpPort());
    }

    /** Elections that come with whatever the token is by then. */
    private Elections elections() {
        Elections elections = ConsulElections.builder(proxy.url())
                .aclToken(() -> token)
                .lockDelay(Duration.ZERO)
                .build();
        open.add(elections);
        return elections;
    }

    private void assertDenied(String name) {
        Election election = elections().election(name);
        List<ThrowingCallable> calls = List.of(
                election::acquire,
                election::tryAcquire,
                () -> election.tryAcquire(Duration.ofSeconds(20)),
                election::leader);
        for (ThrowingCallable call : calls) {
            long began = System.nanoTime();
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(call)
                    .withMessageContainingAll(
                            proxy.url(),
                            "denied access",
                            "key_prefix \"ringfence/\" write",
                            "session_prefix \"\" write",
                            "aclToken(..)")
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("beef"));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
        }
    }

    private long renewals() {
        return proxy.requests().stream()
                .filter(request -> request.requestLine().startsWith(RENEW))
                .count();
    }

    @Test
    void withoutAToken_everyCallSaysWhichRightsAreMissing() {
        assertDenied("nobody");
    }

    @Test
    void withAnUnknownToken_everyCallSaysWhichRightsAreMissing_andNotTheToken() {
        token = UNKNOWN;
        assertDenied("somebody");
    }

    @Test
    void halfOfThePolicyIsNotEnough() {
        token = consul.token(KEYS);
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(elections().election("keys-only")::acquire)
                .withMessageContaining("session_prefix \"\" write");
        token = consul.token(SESSIONS);
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(elections().election("sessions-only")::acquire)
                .withMessageContaining("key_prefix \"ringfence/\" write");
    }

    @Test
    void theMinimalPolicyIsEnough_toAcquire_watch_takeOver_askWhoLeads_andClose() throws Exception {
        token = consul.token(KEYS + SESSIONS);
        Election first = elections().election("minimal");
        Election second = elections().election("minimal");
        Lease lease = first.acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(second.leader()).contains(lease.holder());
        assertThat(second.tryAcquire()).isEmpty();

        ExecutorService caller = Executors.newSingleThreadExecutor();
        Future<Lease> waiting = caller.submit(second::acquire);
        await().atMost(SOON)
                .until(() -> proxy.requests().stream()
                        .anyMatch(request -> request.requestLine().contains("recurse&index=")));
        long released = System.nanoTime();
        lease.close();
        Lease next = waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(Duration.ofSeconds(1));
        assertThat(next.requireToken()).isGreaterThan(lease.fencingToken());

        String session = key("minimal").get("Session").getAsString();
        Future<Lease> taking = caller.submit(first::acquire);
        consul.manage("PUT", "/v1/session/destroy/" + session, "");
        Lease last = taking.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(last.requireToken()).isGreaterThan(next.fencingToken());
        await().atMost(SOON).until(() -> !next.isHeld());
        assertThat(next.lossReason()).contains(LossReason.SESSION_EXPIRED);
        long seen = renewals();
        await().atMost(SOON).until(() -> renewals() > seen + 2);
        assertThat(last.isHeld()).isTrue();
        open.forEach(Elections::close);
        assertThat(key("minimal").has("Session")).isFalse();
        assertThat(consul.manage("GET", "/v1/session/list", "").getAsJsonArray())
                .isEmpty();
        caller.shutdownNow();
    }

    private static JsonObject key(String name) {
        return consul.manage("GET", "/v1/kv/ringfence/" + name, "")
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void aRevokedTokenIsNoLoss_whenTheSupplierHasAFreshOneInTime() throws Exception {
        token = consul.token(KEYS + SESSIONS);
        Lease lease = elections().election("fresh").acquire();
        proxy.clearRequests();
        consul.revoke(token);
        await().atMost(SOON).until(() -> renewals() >= 2); // the first of which was denied
        assertThat(lease.isHeld()).isTrue();
        token = consul.token(KEYS + SESSIONS);
        await().during(Duration.ofSeconds(9)).atMost(SOON).until(lease::isHeld);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void aRevokedTokenEndsTheLeaseAsAccessDenied_whenThereIsNoFreshOneByTheDeadline() throws Exception {
        token = consul.token(KEYS + SESSIONS);
        Election election = elections().election("revoked");
        Lease lease = election.acquire();
        long revoked = System.nanoTime();
        consul.revoke(token);
        await().atMost(Duration.ofSeconds(12)).until(() -> !lease.isHeld());
        assertThat(Duration.ofNanos(System.nanoTime() - revoked))
                .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(9_500));
        assertThat(lease.lossReason()).contains(LossReason.ACCESS_DENIED);
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON).isEqualTo(LossReason.ACCESS_DENIED);
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(election::tryAcquire)
                .withMessageContaining("denied access");

        token = consul.token(KEYS + SESSIONS);
        Lease next = election.tryAcquire(Duration.ofSeconds(25)).orElseThrow();
        assertThat(next.requireToken()).isGreaterThan(lease.fencingToken());
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void aRotatedTokenIsNoLoss_andUsedAtOnce() throws Exception {
        token = consul.token(KEYS + SESSIONS);
        String former = token;
        Lease lease = elections().election("rotated").acquire();
        token = consul.token(KEYS + SESSIONS);
        consul.revoke(former);
        proxy.clearRequests();
        await().during(Duration.ofSeconds(9)).atMost(SOON).until(lease::isHeld);
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(renewals()).isBetween(2L, 4L);
        assertThat(proxy.requests())
                .isNotEmpty()
                .allMatch(request -> request.headers().contains("X-Consul-Token: " + token));
        lease.close();
        assertThat(key("rotated").has("Session")).isFalse();
    }

    @Test
    void theTokenIsInAHeaderOnly_andNeitherItNorASessionIsInALogLineOfAnyLevel_norInAnyText() {
        String secret = consul.token(KEYS + SESSIONS);
        CompletableFuture<Void> renewalFailed = proxy.failNextAnswer(line -> line.startsWith(RENEW), 500);
        try (ChildJvm process = ChildJvm.start(
                SecretiveMain.class,
                List.of(
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace",
                        "-Dorg.slf4j.simpleLogger.log.org.apache.http=trace"),
                proxy.url(),
                "secrets")) {
            process.send(secret);
            process.awaitLine("leadership acquired", PATIENCE);
            assertThat(renewalFailed).succeedsWithin(SOON);
            process.awaitLine("Consul does not answer", PATIENCE);
            String session = key("secrets").get("Session").getAsString();
            consul.manage("PUT", "/v1/session/destroy/" + session, "");
            process.awaitLine("done", PATIENCE);
            List<String> lines = process.lines();
            assertThat(lines)
                    .as("what would tell is listened to")
                    .anyMatch(line -> line.contains("org.apache.http.impl.execchain.MainClientExec"))
                    .anyMatch(line -> line.contains("leadership lost"))
                    .anyMatch(line -> line.contains("/v1/session/create"))
                    .anyMatch(line -> line.contains("denied access"));
            assertThat(lines).noneMatch(line -> line.toLowerCase(Locale.ROOT).contains(secret));
            assertThat(sessions()).contains(session).hasSizeGreaterThan(1);
            assertThat(lines)
                    .filteredOn(line -> sessions().stream().anyMatch(line::contains))
                    .filteredOn(line -> !isOnlyThePath(line))
                    .isEmpty();
        }
        assertThat(proxy.requests()).anyMatch(request -> request.headers().contains("X-Consul-Token: " + secret));
        assertThat(proxy.requests())
                .noneMatch(request -> (request.requestLine() + request.body()).contains(secret))
                .extracting(RecordedRequest::requestLine)
                .noneMatch(line -> line.contains("token="));
    }

    /** The libraries below, told to tell everything, tell paths, and Consul wants a session's id in the path to renew it. */
    private static boolean isOnlyThePath(String line) {
        return PATH.matcher(line).find();
    }

    /** The ids of all sessions that were used to lock something. */
    private Set<String> sessions() {
        return proxy.requests().stream()
                .flatMap(request -> SESSION.matcher(request.body()).results())
                .map(session -> session.group(1))
                .collect(Collectors.toSet());
    }
}
