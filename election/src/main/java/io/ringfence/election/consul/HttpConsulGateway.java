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
 * destroying and reading twice is the same as once; and a session that nobody knows of holds no key and expires.
 *
 * <p>Three HTTP clients share nothing, so that neither a watch nor a slow request can hold up a renewal. Each keeps its
 * number of connections whatever the number of addresses.
 */
final class HttpConsulGateway implements ConsulGateway {
    /** Consul may answer a watch up to a sixteenth of its wait late, and holds any read for 7 s while it has no leader. */
    private static final Duration LATE_WATCH = Duration.ofSeconds(8);

    private final List<ConsulAgent> agents;
    private final AtomicInteger preferred = new AtomicInteger();
    private final HttpConnections renewing;
    private final HttpConnections watching;
    private final HttpConnections control;

    HttpConsulGateway(
            List<URI> addresses,
            Settings settings,
            Supplier<? extends @Nullable String> aclToken,
            @Nullable SSLContext tls) {
        Duration watchTimeout =
                settings.watchWait().multipliedBy(17).dividedBy(16).plus(LATE_WATCH);
        this.renewing = new HttpConnections(1, settings.requestTimeout(), aclToken, tls);
        this.watching = new HttpConnections(1, watchTimeout, aclToken, tls);
        this.control = new HttpConnections(2, settings.requestTimeout(), aclToken, tls);
        List<ConsulAgent> all = new ArrayList<>();
        for (int i = 0; i < addresses.size(); i++) {
            URI address = addresses.get(i);
            all.add(new ConsulAgent(
                    settings.at(settings.addresses().get(i)),
                    renewing.client(address),
                    watching.client(address),
                    control.client(address)));
        }
        this.agents = List.copyOf(all);
    }

    @Override
    public ConsulAnswer send(ConsulRequest request) {
        List<ConsulAnswer.Failed> failures = new ArrayList<>();
        int first = preferred.get();
        for (int i = 0; i < agents.size(); i++) {
            int asked = (first + i) % agents.size();
            // Another agent need not know the index of a watch yet: there it starts over.
            boolean startOver = i > 0 && request instanceof ConsulRequest.Watch;
            ConsulAnswer answer = ask(agents.get(asked), startOver ? new ConsulRequest.Watch(0) : request);
            if (!(answer instanceof ConsulAnswer.Failed failed)) {
                return answer;
            }
            failures.add(failed);
            leave(asked);
        }
        return failures.size() == 1 ? failures.get(0) : together(failures);
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
            renewing.closeIdle();
            watching.closeIdle();
            control.closeIdle();
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
        renewing.close();
        watching.close();
        control.close();
    }
}
