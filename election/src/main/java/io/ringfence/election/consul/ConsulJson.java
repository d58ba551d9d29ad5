package io.ringfence.election.consul;

import com.ecwid.consul.transport.HttpResponse;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ringfence.election.consul.ConsulAnswer.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Request bodies and answers of Consul's HTTP API. What does not look as it must becomes an exception, never a zero. */
final class ConsulJson {
    private ConsulJson() {}

    /** A session bound to the check, or to none; of that node, or of the agent's. */
    static String newSession(Settings settings, @Nullable String check, @Nullable String node) {
        JsonObject session = new JsonObject();
        if (node != null) {
            session.addProperty("Node", node);
        }
        session.addProperty("Name", "ringfence " + settings.holder());
        session.addProperty("TTL", settings.sessionTtl().toMillis() + "ms");
        session.addProperty("LockDelay", settings.lockDelay().toMillis() + "ms");
        session.addProperty("Behavior", "release");
        // Left out, it would mean the node's gossip health, and healthy leaders would lose on a flap.
        JsonArray nodeChecks = new JsonArray();
        if (settings.serfHealth()) {
            nodeChecks.add("serfHealth");
        }
        session.add("NodeChecks", nodeChecks);
        if (check != null) {
            JsonObject id = new JsonObject();
            id.addProperty("ID", check);
            JsonArray checks = new JsonArray();
            checks.add(id);
            session.add("ServiceChecks", checks);
        }
        return session.toString();
    }

    /** A service of that id whose only check has the same id, passes, and waits for heartbeats. */
    static String service(Settings settings, String id) {
        FailureDetection detection = Objects.requireNonNull(settings.failureDetection());
        JsonObject check = new JsonObject();
        check.addProperty("CheckID", id);
        check.addProperty("TTL", detection.period().toMillis() + "ms");
        check.addProperty("Status", "passing");
        check.addProperty("DeregisterCriticalServiceAfter", "1m");
        JsonObject service = new JsonObject();
        service.addProperty("ID", id);
        service.addProperty("Name", detection.service());
        service.add("Check", check);
        return service.toString();
    }

    static String lock(KeyState guard, String session, String value) {
        JsonArray operations = new JsonArray();
        operations.add(guard(guard));
        operations.add(operation("lock", guard.key(), session, value));
        return operations.toString();
    }

    static String unlock(List<KeyState> guards, String session, String value) {
        JsonArray operations = new JsonArray();
        for (KeyState guard : guards) {
            operations.add(guard(guard));
            operations.add(operation("unlock", guard.key(), session, value));
        }
        return operations.toString();
    }

    private static JsonObject guard(KeyState state) {
        JsonObject check = new JsonObject();
        check.addProperty("Verb", state.exists() ? "check-index" : "check-not-exists");
        check.addProperty("Key", state.key());
        if (state.exists()) {
            check.addProperty("Index", state.index());
        }
        return inKv(check);
    }

    private static JsonObject operation(String verb, String key, String session, String value) {
        JsonObject operation = new JsonObject();
        operation.addProperty("Verb", verb);
        operation.addProperty("Key", key);
        operation.addProperty("Session", session);
        operation.addProperty("Value", Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)));
        return inKv(operation);
    }

    private static JsonObject inKv(JsonObject operation) {
        JsonObject kv = new JsonObject();
        kv.add("KV", operation);
        return kv;
    }

    static boolean isOfUnknownNode(HttpResponse response) {
        return response.getStatusCode() == 500
                && response.getContent() != null
                && response.getContent().contains("Missing node registration");
    }

    /** The node of the first one in a list of services. */
    static @Nullable String firstNode(HttpResponse services) {
        JsonArray list = JsonParser.parseString(services.getContent()).getAsJsonArray();
        return list.isEmpty() ? null : text(list.get(0).getAsJsonObject(), "Node");
    }

    /** Consul denies the sight of its servers by leaving them out. */
    static ConsulAnswer noNodeToBindTo(Settings settings) {
        return new ConsulAnswer.Denied("Consul at " + settings.address()
                + " denied access: it shows no server of datacenter '" + settings.datacenter()
                + "', and a session there belongs to one of them" + missingRights(settings));
    }

    static ConsulAnswer sessionCreated(Settings settings, HttpResponse response) {
        if (response.getStatusCode() == 200) {
            String id = text(JsonParser.parseString(response.getContent()).getAsJsonObject(), "ID");
            if (id == null || id.isEmpty()) {
                throw new IllegalArgumentException("a session without an ID");
            }
            return new ConsulAnswer.SessionCreated(id);
        }
        if (response.getContent() != null && response.getContent().contains("Invalid Session TTL")) {
            return new ConsulAnswer.Rejected("Consul at " + settings.address() + " refuses a session with sessionTtl "
                    + settings.sessionTtl() + ": " + response.getContent().strip()
                    + ". Set a sessionTtl in that range, or session_ttl_min on Consul's servers");
        }
        return unusable(settings, response);
    }

    /** The answer to a lock or unlock; a lock's must show our session in the key. */
    static ConsulAnswer keyChanged(Settings settings, HttpResponse response, @Nullable String session) {
        if (response.getStatusCode() != 200) {
            return unusable(settings, response);
        }
        JsonArray results =
                JsonParser.parseString(response.getContent()).getAsJsonObject().getAsJsonArray("Results");
        JsonObject entry = results.get(results.size() - 1).getAsJsonObject().getAsJsonObject("KV");
        if (session != null && !session.equals(text(entry, "Session"))) {
            throw new IllegalArgumentException("a lock that is not ours");
        }
        return new ConsulAnswer.KeyChanged(index(entry));
    }

    static ConsulAnswer keyRead(Settings settings, String key, HttpResponse response) {
        if (response.getStatusCode() == 404 && response.getConsulIndex() != null) {
            return new ConsulAnswer.KeyRead(KeyState.absent(key, response.getConsulIndex()));
        }
        if (response.getStatusCode() != 200) {
            return unusable(settings, response);
        }
        KeyState state = keyState(JsonParser.parseString(response.getContent())
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject());
        if (!state.key().equals(key)) {
            throw new IllegalArgumentException("another key than the one asked for: " + state.key());
        }
        return new ConsulAnswer.KeyRead(state);
    }

    static ConsulAnswer keyList(Settings settings, HttpResponse response) {
        Long index = response.getConsulIndex();
        boolean answered = response.getStatusCode() == 200 || response.getStatusCode() == 404;
        if (!answered || index == null) {
            return unusable(settings, response);
        }
        List<KeyState> keys = new ArrayList<>();
        if (response.getStatusCode() == 200) {
            for (JsonElement entry :
                    JsonParser.parseString(response.getContent()).getAsJsonArray()) {
                keys.add(keyState(entry.getAsJsonObject()));
            }
        }
        return new ConsulAnswer.KeyList(index, keys, response.getContent().length());
    }

    /** Classifies what is not the hoped-for answer. */
    static ConsulAnswer unusable(Settings settings, HttpResponse response) {
        String content =
                response.getContent() == null ? "" : response.getContent().strip();
        String from = "Consul at " + settings.address();
        int status = response.getStatusCode();
        if (status == 403 || (status == 409 && content.contains("Permission denied"))) {
            return new ConsulAnswer.Denied(from + " denied access: " + brief(content) + missingRights(settings));
        }
        if (status == 409) {
            return new ConsulAnswer.Refused(refusal(content), from + " refused a transaction: " + brief(content));
        }
        if (content.contains("No path to datacenter")) {
            return new ConsulAnswer.Failed(
                    from + " knows no datacenter '" + settings.datacenter() + "' or cannot reach it: " + brief(content)
                            + ". Check datacenter(..), and that the datacenters are joined",
                    null);
        }
        if (content.contains("Missing check") && settings.datacenter() != null) {
            return new ConsulAnswer.Failed(
                    from + " made no session in datacenter '" + settings.datacenter() + "': " + brief(content)
                            + ". failureDetection(..) works in the agent's own datacenter only",
                    null);
        }
        String message = from + " answered " + status + ": " + brief(content);
        if (status == 429 || status >= 500) {
            return new ConsulAnswer.Failed(message, null);
        }
        return new ConsulAnswer.Rejected(message + ". Is it a Consul agent?");
    }

    /** Names all rights that are needed, for Consul does not say which one is missing. */
    private static String missingRights(Settings settings) {
        FailureDetection detection = settings.failureDetection();
        String datacenter = settings.datacenter();
        String service = detection == null ? "" : ", service \"" + detection.service() + "\" write";
        String there = datacenter == null
                ? ""
                : " in datacenter '" + datacenter + "', and if the agent is in another one service \"consul\" read and"
                        + " node_prefix \"\" read too";
        return ". Give the ACL token key_prefix \"" + settings.keyPrefix() + "\" write" + service
                + " and session_prefix \"\" write" + there + ", and set it with aclToken(..)";
    }

    private static Refusal refusal(String content) {
        if (content.contains("lock delay")) {
            return Refusal.LOCK_DELAY;
        }
        if (content.contains("invalid session")) {
            return Refusal.INVALID_SESSION;
        }
        return content.contains("already held") ? Refusal.HELD : Refusal.GUARD;
    }

    private static KeyState keyState(JsonObject entry) {
        String key = text(entry, "Key");
        String session = text(entry, "Session");
        String value = text(entry, "Value");
        if (key == null) {
            throw new IllegalArgumentException("an entry without a key");
        }
        return new KeyState(
                key,
                true,
                index(entry),
                session == null || session.isEmpty() ? null : session,
                value == null ? null : new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8));
    }

    private static long index(JsonObject entry) {
        // Parsed as text: as a number, 1.5e3 would pass for 1500 and 2^63 for the highest long.
        long index = Long.parseLong(entry.get("ModifyIndex").getAsString());
        if (index < 1 || index > FencingTokens.HIGHEST_INDEX) {
            throw new IllegalArgumentException("a ModifyIndex out of range: " + index);
        }
        return index;
    }

    private static @Nullable String text(JsonObject object, String name) {
        JsonElement element = object.get(name);
        return element == null || element.isJsonNull() ? null : element.getAsString();
    }

    private static String brief(String content) {
        int most = 300;
        return content.length() <= most ? content : content.substring(0, most) + "..";
    }
}
