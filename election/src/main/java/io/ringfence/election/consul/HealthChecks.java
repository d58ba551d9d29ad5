package io.ringfence.election.consul;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which agent has which of our health checks: a check lives at one agent, and no other knows it. And by which ACL token it
 * was registered, for the agent goes on with that token by itself, so that the check has to be registered anew before the
 * token is revoked. Thread-safe.
 */
final class HealthChecks {
    private record Registration(ConsulAgent agent, String token) {
        @Override
        public String toString() {
            return "Registration[" + agent.settings().address() + "]"; // never the token
        }
    }

    private final Map<String, Registration> registrations = new ConcurrentHashMap<>();

    /** Takes note of a registration that is about to be sent, with the token as it was before. */
    void registering(String check, ConsulAgent agent, @Nullable String token) {
        registrations.put(check, new Registration(agent, Objects.requireNonNullElse(token, "")));
    }

    void forget(String check) {
        registrations.remove(check);
    }

    @Nullable
    ConsulAgent agentOf(String check) {
        Registration registration = registrations.get(check);
        return registration == null ? null : registration.agent();
    }

    boolean isRegisteredBy(String check, @Nullable String token) {
        Registration registration = registrations.get(check);
        return registration != null && registration.token().equals(Objects.requireNonNullElse(token, ""));
    }
}
