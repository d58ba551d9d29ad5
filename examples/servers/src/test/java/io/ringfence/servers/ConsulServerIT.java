package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConsulServerIT {

    private static final String ENTRY = "/v1/kv/entry";

    private final ConsulServer consul = ConsulServer.start();

    @AfterEach
    void close() {
        consul.close();
    }

    @Test
    void keepsItsStateAddressAndSessions_acrossKillAndRestart() {
        String session = createSession("");
        assertThat(consul.put(ENTRY + "?acquire=" + session, "held").strip()).isEqualTo("true");
        long pid = consul.pid();
        String url = consul.url();

        consul.kill();
        assertThat(ProcessHandle.of(pid)).isEmpty();
        consul.restart();

        assertThat(consul.url()).isEqualTo(url);
        assertThat(consul.pid()).isNotEqualTo(pid);
        assertThat(consul.get(ENTRY + "?raw")).isEqualTo("held");
        assertThat(consul.get(ENTRY)).contains(session);
    }

    @Test
    void answersNothing_whileFrozen_andGoesOnWhenResumed() throws Exception {
        consul.put(ENTRY, "before");
        consul.freeze();
        HttpRequest request = HttpRequest.newBuilder(URI.create(consul.url() + ENTRY + "?raw"))
                .timeout(Duration.ofMillis(500))
                .build();
        HttpClient client = HttpClient.newHttpClient();
        assertThatThrownBy(() -> client.send(request, BodyHandlers.ofString()))
                .isInstanceOf(HttpTimeoutException.class);

        consul.resume();
        assertThat(consul.get(ENTRY + "?raw")).isEqualTo("before");
    }

    @Test
    void stops_evenWhenFrozen_andRefusesConnections() {
        consul.freeze();
        consul.stop();
        assertThatThrownBy(() -> consul.get(ENTRY)).hasRootCauseInstanceOf(IOException.class);
    }

    @Test
    void deletesKeysAndSessions_asAnOperator() {
        String session = createSession("{\"Behavior\": \"delete\"}");
        consul.put(ENTRY + "?acquire=" + session, "held");
        consul.destroySession(session);
        assertThatThrownBy(() -> consul.get(ENTRY)).hasMessageContaining("404");

        consul.put(ENTRY, "free");
        consul.deleteKey("entry");
        assertThatThrownBy(() -> consul.get(ENTRY)).hasMessageContaining("404");
    }

    @Test
    void takesMoreConfiguration_andReportsWhatConsulSaysAboutBadOne() {
        String acls = "{\"acl\": {\"enabled\": true, \"default_policy\": \"deny\"}}";
        try (ConsulServer guarded = ConsulServer.start(acls)) {
            assertThatThrownBy(() -> guarded.put(ENTRY, "")).hasMessageContaining("403");
        }
        assertThatThrownBy(() -> ConsulServer.start("{\"no_such_option\": 1}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no_such_option")
                .hasMessageContaining("consul.log");
    }

    private String createSession(String body) {
        Matcher id = Pattern.compile("\"ID\": *\"([^\"]+)\"").matcher(consul.put("/v1/session/create", body));
        assertThat(id.find()).isTrue();
        return id.group(1);
    }
}
