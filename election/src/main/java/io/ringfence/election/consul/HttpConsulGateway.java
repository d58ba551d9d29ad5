package io.ringfence.election.consul;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Consul by HTTP through one agent of several: the one that answered last, and after a failure the next, at once.
 *
 * <p>Every request may be repeated at another agent, although the first one may have carried it out, or may yet: a lock or
 * unlock is guarded by the key's index, so its second copy is refused, and the refusal is settled by a read; renewing,
 * destroying and reading twice is the same as once; and a session that nobody knows of holds no key and expires. Only a
 * heartbeat goes to the one agent that has its health check.
 *
 * <p>The HTTP clients share nothing, so that neither a watch nor a slow request can hold up a renewal, nor a renewal a
 * heartbeat. Each keeps its number of connections whatever the number of addresses, and together they have four.
 */
final class HttpConsulGateway implements ConsulGateway {
    /** Consul may answer a watch up to a sixteenth of its wait late, and holds any read for 7 s while it has no leader. */
    private static final Duration LATE_WATCH = Duration.ofSeconds(8);

    private final List<ConsulAgent> agents;
    private final AtomicInteger preferred = new AtomicInteger();
    private final HealthChecks checks = new HealthChecks();
    private final Supplier<? extends @Nullable String> aclToken;
    private final List<HttpConnections> connections;

    HttpConsulGateway(
            List<URI> addresses,
            Settings settings,
            Supplier<? extends @Nullable String> aclToken,
            @Nullable SSLContext tls) {
        Duration watchTimeout =
                settings.watchWait().multipliedBy(17).dividedBy(16).plus(LATE_WATCH);
        FailureDetection detection = settings.failureDetection();
        this.aclToken = aclToken;
        HttpConnections renewing = new HttpConnections(1, settings.requestTimeout(), aclToken, tls);
        HttpConnections watching = new HttpConnections(1, watchTimeout, aclToken, tls);
        HttpConnections control =
                new HttpConnections(settings.controlConnections(), settings.requestTimeout(), aclToken, tls);
        HttpConnections beating = detection == null
                ? control
                : new HttpConnections(1, settings.heartbeatTimeout(detection), aclToken, tls);
        this.connections = List.of(renewing, watching, control, beating);
        List<ConsulAgent> all = new ArrayList<>();
        for (int i = 0; i < addresses.size(); i++) {
            URI address = addresses.get(i);
            all.add(new ConsulAgent(
                    settings.at(settings.addresses().get(i)),
                    renewing.client(address),
                    watching.client(address),
                    control.client(address),
                    beating.client(address)));
        }
        this.agents = List.copyOf(all);
    }

    @Override
    public ConsulAnswer send(ConsulRequest request) {
        if (request instanceof ConsulRequest.Heartbeat heartbeat) {
            return beat(heartbeat);
        } else if (request instanceof ConsulRequest.Deregister deregister) {
            return deregister(deregister);
        }
        ConsulAnswer answer = sendToAny(request);
        if (request instanceof ConsulRequest.CreateSession create
                && create.check() != null
                && !(answer instanceof ConsulAnswer.SessionCreated)) {
            checks.forget(create.check());
        }
        return answer;
    }

    private ConsulAnswer sendToAny(ConsulRequest request) {
        List<ConsulAnswer.Failed> failures = new ArrayList<>();
        int first = preferred.get();
        for (int i = 0; i < agents.size(); i++) {
            int asked = (first + i) % agents.size();
            // Another agent need not know the index of a watch yet: there it starts over.
            boolean startOver = i > 0 && request instanceof ConsulRequest.Watch;
            ConsulAgent agent = agents.get(asked);
            if (request instanceof ConsulRequest.CreateSession create && create.check() != null) {
                checks.registering(create.check(), agent, aclToken.get());
            }
            ConsulAnswer answer = ask(agent, startOver ? new ConsulRequest.Watch(0) : request);
            if (!(answer instanceof ConsulAnswer.Failed failed)) {
                return answer;
            }
            failures.add(failed);
            leave(asked);
        }
        return failures.size() == 1 ? failures.get(0) : together(failures);
    }

    private ConsulAnswer beat(ConsulRequest.Heartbeat heartbeat) {
        String check = heartbeat.check();
        ConsulAgent agent = checks.agentOf(check);
        if (agent == null) {
            return new ConsulAnswer.Failed("The health check " + check + " is not registered any more", null);
        }
        String token = aclToken.get();
        if (!checks.isRegisteredBy(check, token)) {
            ConsulAnswer registered = ask(agent, new ConsulRequest.Register(check));
            if (!(registered instanceof ConsulAnswer.Done)) {
                return registered;
            }
            checks.registering(check, agent, token);
        }
        return ask(agent, heartbeat);
    }

    private ConsulAnswer deregister(ConsulRequest.Deregister deregister) {
        ConsulAgent agent = checks.agentOf(deregister.check());
        checks.forget(deregister.check());
        return agent == null ? new ConsulAnswer.Done() : ask(agent, deregister);
    }

    private static ConsulAnswer ask(ConsulAgent agent, ConsulRequest request) {
        try {
            return agent.send(request);
        } catch (RuntimeException e) {
            return HttpFailure.of(agent.settings().address(), e);
        }
    }

    private void leave(int failed) {
        if (agents.size() > 1 && preferred.compareAndSet(failed, (failed + 1) % agents.size())) {
            connections.forEach(HttpConnections::closeIdle);
        }
    }

    private static ConsulAnswer together(List<ConsulAnswer.Failed> failures) {
        Throwable cause = null;
        for (ConsulAnswer.Failed failed : failures) {
            if (cause == null) {
                cause = failed.cause();
            } else if (failed.cause() != null) {
                cause.addSuppressed(failed.cause());
            }
        }
        String messages = failures.stream().map(ConsulAnswer.Failed::message).collect(Collectors.joining("; "));
        return new ConsulAnswer.Failed("No address of Consul gave a usable answer: " + messages, cause);
    }

    @Override
    public void close() {
        connections.forEach(HttpConnections::close);
    }
}
