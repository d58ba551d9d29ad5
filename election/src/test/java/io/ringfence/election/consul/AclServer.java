package io.ringfence.election.consul;

import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ringfence.servers.ConsulServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A Consul whose ACLs deny everything to everybody, and an operator who hands out tokens and takes them back. */
final class AclServer implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<String, String> accessors = new ConcurrentHashMap<>();
    private final ConsulServer server;
    private final String management;
    private final @Nullable AclServer primary;

    AclServer() {
        this(ConsulServer.start(config("dc1")));
    }

    /** The operator of a server that nobody operates yet, in the primary datacenter of {@link #config}. */
    AclServer(ConsulServer server) {
        this.server = server;
        this.primary = null;
        // In its first seconds an old Consul still speaks its former ACL language, and answers 500.
        HttpResponse<String> bootstrap = await().atMost(START)
                .until(() -> send("PUT", "/v1/acl/bootstrap", "", ""), answer -> answer.statusCode() == 200);
        this.management = secret(JsonParser.parseString(bootstrap.body()));
        letTheAgentTellTheServers();
    }

    /** The same operator at a server of another datacenter, which takes tokens over from the primary one. */
    AclServer(ConsulServer server, AclServer primary) {
        this.server = server;
        this.primary = primary;
        this.management = primary.management;
        JsonObject own = new JsonObject();
        own.addProperty("Token", management);
        await().atMost(START)
                .until(() -> send("PUT", "/v1/agent/token/replication", own.toString(), management)
                                .statusCode()
                        == 200);
        letTheAgentTellTheServers();
    }

    static String config(String primaryDatacenter) {
        return """
                {"primary_datacenter": "%s",
                 "acl": {"enabled": true, "default_policy": "deny", "token_ttl": "0s", "policy_ttl": "0s",
                         "enable_token_replication": true}}
                """.formatted(primaryDatacenter);
    }

    /** Without rights of its own, the agent is late to pass on what becomes of a health check. */
    private void letTheAgentTellTheServers() {
        JsonObject own = new JsonObject();
        own.addProperty("Token", token("""
                node_prefix "" { policy = "write" }
                service_prefix "" { policy = "read" }"""));
        JsonElement unused = manage("PUT", "/v1/agent/token/agent", own.toString());
    }

    ConsulServer server() {
        return server;
    }

    /** Makes a token that may do what the rules allow, in every datacenter. */
    String token(String rules) {
        return token(rules, false);
    }

    /** Makes a token that may do what the rules allow in the datacenter of this server, and is unknown in others. */
    String localToken(String rules) {
        return token(rules, true);
    }

    private String token(String rules, boolean local) {
        JsonObject policy = new JsonObject();
        policy.addProperty("Name", "policy-" + UUID.randomUUID());
        policy.addProperty("Rules", rules);
        JsonElement unused = manage("PUT", "/v1/acl/policy", policy.toString());
        awaitReplication();
        JsonObject link = new JsonObject();
        link.add("Name", policy.get("Name"));
        JsonArray links = new JsonArray();
        links.add(link);
        JsonObject token = new JsonObject();
        token.add("Policies", links);
        token.addProperty("Local", local);
        JsonElement made = manage("PUT", "/v1/acl/token", token.toString());
        awaitReplication();
        accessors.put(secret(made), made.getAsJsonObject().get("AccessorID").getAsString());
        return secret(made);
    }

    /** In another datacenter than the primary one, waits until all that the primary has is known. */
    private void awaitReplication() {
        if (primary != null) {
            long policy = latest(primary.manage("GET", "/v1/acl/policies", ""));
            long token = latest(primary.manage("GET", "/v1/acl/tokens", ""));
            await().atMost(START).until(() -> {
                JsonObject known = manage("GET", "/v1/acl/replication", "").getAsJsonObject();
                return known.get("ReplicatedIndex").getAsLong() >= policy
                        && known.get("ReplicatedTokenIndex").getAsLong() >= token;
            });
        }
    }

    private static long latest(JsonElement list) {
        return list.getAsJsonArray().asList().stream()
                .mapToLong(entry -> entry.getAsJsonObject().get("ModifyIndex").getAsLong())
                .max()
                .orElseThrow();
    }

    /** Takes a token back: who comes with it now is nobody. */
    void revoke(String token) {
        JsonElement unused = manage("DELETE", "/v1/acl/token/" + accessors.get(token), "");
    }

    /** Reads or changes something with all rights. */
    JsonElement manage(String method, String path, String body) {
        HttpResponse<String> answer = send(method, path, body, management);
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
        }
        return JsonParser.parseString(answer.body());
    }

    private HttpResponse<String> send(String method, String path, String body, String token) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(server.url() + path)).method(method, BodyPublishers.ofString(body));
        if (!token.isEmpty()) {
            request.header("X-Consul-Token", token);
        }
        try {
            return http.send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String secret(JsonElement token) {
        return token.getAsJsonObject().get("SecretID").getAsString();
    }

    @Override
    public void close() {
        server.close();
    }
}
