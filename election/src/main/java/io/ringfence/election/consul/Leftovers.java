package io.ringfence.election.consul;

import io.ringfence.election.internal.Backoff;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Removes from Consul what dead generations leave there: destroys the session, until Consul does it or, when all is being
 * closed, denies it; and only after its first answer deregisters the health check, once, for an agent removes it by itself a
 * minute after the last heartbeat. Guarded by the machine's lock.
 */
final class Leftovers {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final ElectionMachine machine;
    private final Backoff pause;

    /** Sessions to destroy; the value is when to try again, or null while a request is under way. */
    private final Map<ConsulRequest.DestroySession, @Nullable Moment> sessions = new LinkedHashMap<>();

    private final Set<String> checks = new LinkedHashSet<>();
    private @Nullable CompletableFuture<Void> allGone;

    Leftovers(ElectionMachine machine) {
        this.machine = machine;
        this.pause = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, machine.random);
    }

    /** Destroys the session and then deregisters the check, if there is one. */
    void destroy(String session, @Nullable String check) {
        ConsulRequest.DestroySession request = new ConsulRequest.DestroySession(session, check);
        sessions.put(request, null);
        machine.outbox.send(request);
    }

    void deregister(@Nullable String check) {
        if (check != null) {
            checks.add(check);
            machine.outbox.send(new ConsulRequest.Deregister(check));
        }
    }

    void onDestroyAnswer(ConsulRequest.DestroySession request, ConsulAnswer answer) {
        Moment now = machine.now();
        if (answer instanceof ConsulAnswer.Failed) {
            sessions.put(request, now.plus(pause.next()));
        } else if (answer instanceof ConsulAnswer.Denied && allGone == null) {
            // Another token may be allowed to. The check goes now: its agent may allow it, and it takes the session
            // along.
            sessions.remove(request);
            sessions.put(new ConsulRequest.DestroySession(request.session(), null), now.plus(pause.next()));
            deregister(request.check());
        } else {
            pause.reset();
            sessions.remove(request);
            deregister(request.check());
        }
        tellIfGone();
    }

    void onDeregisterAnswer(ConsulRequest.Deregister request) {
        checks.remove(request.check());
        tellIfGone();
    }

    /** Completes the future when nothing is left; something may still be added before. */
    void whenGone(CompletableFuture<Void> gone) {
        allGone = gone;
        tellIfGone();
    }

    private void tellIfGone() {
        if (allGone != null && sessions.isEmpty() && checks.isEmpty() && !machine.sessions.isCreating()) {
            allGone.complete(null);
        }
    }

    /** A session that was on its way may have come to nothing. */
    void onCreateAnswer() {
        tellIfGone();
    }

    void tick(Moment now) {
        sessions.forEach((request, retryAt) -> {
            if (retryAt != null && retryAt.isReachedAt(now)) {
                sessions.put(request, null);
                machine.outbox.send(request);
            }
        });
    }

    Moment nextTick(Moment now, Moment latest) {
        Moment next = latest;
        for (Moment retryAt : sessions.values()) {
            next = retryAt == null ? next : Moment.earlier(next, retryAt, now);
        }
        return next;
    }
}
