package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("cluster")
class ConsulClusterIT {

    private static final ConsulCluster CLUSTER = ConsulCluster.start();
    private static final String ENTRY = "/v1/kv/entry";

    @AfterEach
    void heal() {
        CLUSTER.heal();
    }

    @AfterAll
    static void close() {
        CLUSTER.close();
        assertThat(CLUSTER.servers()).noneMatch(server -> server.process().isAlive());
    }

    @Test
    void losesItsLeader_electsAnother_andTakesTheFormerOneBack() {
        int former = CLUSTER.awaitLeader();
        CLUSTER.server(former).put(ENTRY, "before");
        CLUSTER.server(former).kill();
        int next = CLUSTER.awaitLeaderOtherThan(former);
        assertThat(next).isNotEqualTo(former);
        CLUSTER.server(next).put(ENTRY, "after");

        CLUSTER.server(former).restart();
        CLUSTER.awaitHealthy();
        for (ConsulServer server : CLUSTER.servers()) {
            assertThat(server.get(ENTRY + "?raw&consistent")).isEqualTo("after");
        }
    }

    @Test
    void doesNotTakeAFrozenServerForTheLeader_butItsSuccessor() {
        int former = CLUSTER.awaitLeader();
        CLUSTER.server(former).freeze();
        int next = CLUSTER.awaitLeaderOtherThan(former);
        CLUSTER.server(next).put(ENTRY, "after");
        CLUSTER.server(former).resume();
        CLUSTER.awaitHealthy();
        assertThat(CLUSTER.leader()).hasValue(next);
    }

    @Test
    void losesItsQuorum_andGetsItBack() {
        CLUSTER.server(0).put(ENTRY, "before");
        CLUSTER.server(1).kill();
        CLUSTER.server(2).kill();
        // another key: what a leader could not commit may be committed later
        assertThatThrownBy(() -> CLUSTER.server(0).put("/v1/kv/other", "")).isInstanceOf(IllegalStateException.class);
        CLUSTER.heal();
        assertThat(CLUSTER.server(2).get(ENTRY + "?raw")).isEqualTo("before");
        CLUSTER.server(1).put(ENTRY, "after");
    }

    @Test
    void aClientKeepsItsSessions_whenItIsKilled_andLosesThem_whenItLeaves() {
        try (ConsulClient client = ConsulClient.of(CLUSTER)) {
            String session = createSession(client);
            client.kill();
            client.restart();
            assertThat(client.get("/v1/session/info/" + session)).contains(session);
            client.stop();
            ConsulServer server = CLUSTER.server(0);
            assertThat(server.get("/v1/session/info/" + session)).doesNotContain(session);
            client.restart();
            assertThat(server.get("/v1/session/info/" + createSession(client))).contains("consul-" + client.httpPort());
        }
    }

    private static String createSession(ConsulClient client) {
        String body = client.put("/v1/session/create", "{\"TTL\": \"60s\", \"NodeChecks\": []}");
        Matcher id = Pattern.compile("\"ID\": *\"([^\"]+)\"").matcher(body);
        assertThat(id.find()).isTrue();
        return id.group(1);
    }
}
