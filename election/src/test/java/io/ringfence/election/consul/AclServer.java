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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A Consul whose ACLs deny everything to everybody, and an operator who hands out tokens and takes them back. */
final class AclServer implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<String, String> accessors = new ConcurrentHashMap<>();
    private final AtomicInteger policies = new AtomicInteger();
    private final ConsulServer server = ConsulServer.start("""
            {"primary_datacenter": "dc1",
             "acl": {"enabled": true, "default_policy": "deny", "token_ttl": "0s", "policy_ttl": "0s"}}""");
    private final String management;

    AclServer() {
        // In its first seconds an old Consul still speaks its former ACL language, and answers 500.
        HttpResponse<String> bootstrap = await().atMost(START)
                .until(() -> send("PUT", "/v1/acl/bootstrap", "", ""), answer -> answer.statusCode() == 200);
        this.management = secret(JsonParser.parseString(bootstrap.body()));
        letTheAgentTellTheServers();
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

    /** Makes a token that may do what the rules allow. */
    String token(String rules) {
        JsonObject policy = new JsonObject();
        policy.addProperty("Name", "policy-" + policies.incrementAndGet());
        policy.addProperty("Rules", rules);
        JsonElement unused = manage("PUT", "/v1/acl/policy", policy.toString());
        JsonObject link = new JsonObject();
        link.add("Name", policy.get("Name"));
        JsonArray links = new JsonArray();
        links.add(link);
        JsonObject token = new JsonObject();
        token.add("Policies", links);
        JsonElement made = manage("PUT", "/v1/acl/token", token.toString());
        accessors.put(secret(made), made.getAsJsonObject().get("AccessorID").getAsString());
        return secret(made);
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
