package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonElement;
import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Failure detection on a Consul that denies everything to those without the right token. */
class FailureDetectionAclIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PERIOD = Duration.ofSeconds(2);
    /** A session that is not renewed any more lives for at least 16 seconds, if nothing else ends it. */
    private static final Duration BEFORE_THE_TTL = Duration.ofSeconds(12);

    private static final String WITHOUT_SERVICE = """
            key_prefix "ringfence/" { policy = "write" }
            session_prefix "" { policy = "write" }
            """;
    private static final String MINIMAL = WITHOUT_SERVICE + "service \"ringfence\" { policy = \"write\" }";

    private static AclServer consul;

    private volatile String token = "";

    @BeforeAll
    static void start() {
        consul = new AclServer();
    }

    @AfterAll
    static void stop() {
        consul.close();
    }

    private Elections elections() {
        return elections(consul.server().url());
    }

    private Elections elections(String url) {
        return ConsulElections.builder(url)
                .aclToken(() -> token)
                .lockDelay(Duration.ZERO)
                .failureDetection(PERIOD)
                .build();
    }

    @Test
    void theMinimalPolicyIsEnough() throws Exception {
        token = consul.token(MINIMAL);
        try (Elections elections = elections()) {
            Lease lease = elections.election("minimal").acquire();
            await().during(PERIOD.multipliedBy(3)).atMost(PATIENCE).until(lease::isHeld);
        }
    }

    @Test
    void withoutTheService_theRightThatIsMissingIsNamed() {
        token = consul.token(WITHOUT_SERVICE);
        try (Elections elections = elections()) {
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(elections.election("no-service")::acquire)
                    .withMessageContaining("service \"ringfence\" write");
        }
    }

    @Test
    void aRotatedTokenRegistersTheCheckAnew_soThatTheFormerOneCanBeRevoked() throws Exception {
        String former = consul.token(MINIMAL);
        token = former;
        try (TcpProxy proxy = TcpProxy.to(consul.server().httpPort());
                Elections elections = elections(proxy.url())) {
            Lease lease = elections.election("rotated").acquire();
            token = consul.token(MINIMAL);
            await().during(PERIOD).atMost(PATIENCE).until(lease::isHeld);
            consul.revoke(former);
            await().during(PERIOD.multipliedBy(4)).atMost(PATIENCE).until(lease::isHeld);
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);

            // The agent tells the servers what became of the check with the token that registered it.
            proxy.refuse();
            proxy.cut();
            await().atMost(BEFORE_THE_TTL).until(() -> sessionOf("rotated").isEmpty());
        }
    }

    private static String sessionOf(String name) {
        JsonElement key = consul.manage("GET", "/v1/kv/ringfence/" + name, "")
                .getAsJsonArray()
                .get(0);
        JsonElement session = key.getAsJsonObject().get("Session");
        return session == null ? "" : session.getAsString();
    }

    @Test
    void aTokenRevokedForGood_losesTheLease_andIsToldAsDeniedAccess() throws Exception {
        // A Consul of its own: an agent that cannot pass on one check is late with all others.
        try (AclServer own = new AclServer();
                Elections elections = elections(own.server().url())) {
            token = own.token(MINIMAL);
            Election election = elections.election("revoked");
            Lease lease = election.acquire();
            own.revoke(token);
            assertThat(lease.lost().toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .isEqualTo(LossReason.ACCESS_DENIED);
            token = own.token(MINIMAL);
            try (Lease next = election.acquire()) {
                assertThat(next.fencingToken().value())
                        .isGreaterThan(lease.fencingToken().value());
            }
        }
    }
}
