package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A real process, frozen with SIGSTOP and resumed. */
@ExtendWith(SharedServers.class)
class FrozenHolderIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ConsulServer server;
    private final Consul consul;

    FrozenHolderIT(ConsulServer server) {
        this.server = server;
        this.consul = new Consul(server);
    }

    private static ChildJvm holder(ConsulServer server, String name, Duration ttl) {
        return ChildJvm.start(HolderMain.class, List.of(), server.url(), name, ttl.toString());
    }

    @Test
    void frozenPastTheDeadline_butNotPastTheSession_losesForGood() throws Exception {
        String name = "frozen-12-s";
        try (ChildJvm holder = holder(server, name, Duration.ofSeconds(10))) {
            long token = token(holder.awaitLine("leads ", PATIENCE));
            String session = consul.session(name);
            holder.freeze();
            Thread.sleep(12_000);
            assertThat(server.get("/v1/session/info/" + session))
                    .as("the session still lives, so a renewal would succeed")
                    .contains(session);
            holder.resume();
            assertThat(holder.awaitLine("woke ", PATIENCE)).isEqualTo("woke lost");
            assertThat(holder.awaitLine("later ", PATIENCE)).isEqualTo("later lost DEADLINE_EXCEEDED");
            assertThat(token(holder.awaitLine("again ", PATIENCE))).isGreaterThan(token);
        }
    }

    @Test
    void frozenPastTwiceTheTtl_losesForGood_andAnotherLeadsWithAHigherToken() throws Exception {
        String name = "frozen-past-twice-the-ttl";
        Duration ttl = Duration.ofSeconds(2);
        try (ConsulServer own = ConsulServer.start("{\"session_ttl_min\": \"1s\"}");
                ChildJvm holder = holder(own, name, ttl);
                Elections elections = new Consul(own).quick().build()) {
            long token = token(holder.awaitLine("leads ", PATIENCE));
            holder.freeze();
            Lease next = elections.election(name).acquire();
            assertThat(next.requireToken().value()).isGreaterThan(token);
            holder.resume();
            assertThat(holder.awaitLine("woke ", PATIENCE)).isEqualTo("woke lost");
            assertThat(holder.awaitLine("later ", PATIENCE)).startsWith("later lost");
            assertThat(next.isHeld()).isTrue();
            next.close();
            assertThat(token(holder.awaitLine("again ", PATIENCE)))
                    .isGreaterThan(next.fencingToken().value());
        }
    }

    @Test
    void killed_isReplaced() throws Exception {
        String name = "killed";
        try (ConsulServer own = ConsulServer.start("{\"session_ttl_min\": \"1s\"}");
                ChildJvm holder = holder(own, name, Duration.ofSeconds(2));
                Elections elections = new Consul(own).quick().build()) {
            long token = token(holder.awaitLine("leads ", PATIENCE));
            holder.kill();
            Lease next = elections.election(name).tryAcquire(PATIENCE).orElseThrow();
            assertThat(next.requireToken().value()).isGreaterThan(token);
        }
    }

    private static long token(String line) {
        return Long.parseLong(line.substring(line.indexOf(' ') + 1));
    }
}
