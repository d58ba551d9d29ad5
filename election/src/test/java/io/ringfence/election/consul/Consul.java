package io.ringfence.election.consul;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ringfence.servers.ConsulServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What tests look up and do on a real Consul behind the back of the elections. */
final class Consul {
    private final ConsulServer server;
    private final String prefix;

    Consul(ConsulServer server) {
        this(server, ConsulElections.Builder.DEFAULT_KEY_PREFIX);
    }

    Consul(ConsulServer server, String prefix) {
        this.server = server;
        this.prefix = prefix;
    }

    /** Elections with a lock delay of zero, so that a test need not wait for it. */
    ConsulElections.Builder quick() {
        return ConsulElections.builder(server.url()).keyPrefix(prefix).lockDelay(Duration.ZERO);
    }

    JsonObject key(String name) {
        return JsonParser.parseString(server.get("/v1/kv/" + prefix + name))
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
    }

    long index(String name) {
        return key(name).get("ModifyIndex").getAsLong();
    }

    boolean isLocked(String name) {
        JsonElement session = key(name).get("Session");
        return session != null && !session.getAsString().isEmpty();
    }

    String session(String name) {
        return key(name).get("Session").getAsString();
    }

    /** How many sessions there are whose name says that they belong to this holder. */
    long sessionsOf(String holder) {
        JsonArray sessions =
                JsonParser.parseString(server.get("/v1/session/list")).getAsJsonArray();
        return sessions.asList().stream()
                .map(session -> session.getAsJsonObject().get("Name").getAsString())
                .filter(sessionName -> sessionName.endsWith(" " + holder))
                .count();
    }

    /** Makes a session that nobody renews. */
    String foreignSession() {
        String body = server.put("/v1/session/create", "{\"TTL\":\"60s\",\"LockDelay\":\"0s\",\"NodeChecks\":[]}");
        return JsonParser.parseString(body).getAsJsonObject().get("ID").getAsString();
    }

    void put(String name, String query, String value) {
        server.put("/v1/kv/" + prefix + name + query, value);
    }

    /** Writes bytes that need not be a text, with a verb of Consul's transactions such as {@code set}. */
    void write(String verb, String name, String session, byte[] value) {
        server.put("/v1/txn", """
                [{"KV": {"Verb": "%s", "Key": "%s", "Session": "%s", "Value": "%s"}}]
                """.formatted(
                        verb, prefix + name, session, Base64.getEncoder().encodeToString(value)));
    }

    /** Unlocks the key and locks it for another session in one transaction. */
    void passOn(String name, String from, String to) {
        server.put("/v1/txn", """
                [{"KV": {"Verb": "unlock", "Key": "%1$s", "Session": "%2$s", "Value": ""}},
                 {"KV": {"Verb": "lock", "Key": "%1$s", "Session": "%3$s", "Value": ""}}]
                """.formatted(prefix + name, from, to));
    }

    /** Runs the same thing on several threads at once and returns what each returned. */
    static <T> List<T> atOnce(int threads, Callable<T> action) throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : pool.invokeAll(Collections.nCopies(threads, action))) {
                results.add(future.get());
            }
            return results;
        } finally {
            pool.shutdownNow();
        }
    }
}
