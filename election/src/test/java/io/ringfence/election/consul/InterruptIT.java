package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls that are interrupted while they acquire: at each of their requests, whether its answer comes late or never. */
@ExtendWith(SharedServers.class)
class InterruptIT {
    private static final String PREFIX = "interrupts/";
    private static final Duration SOON = Duration.ofSeconds(10);

    /** The default time-out of a request at a ttl of 10 s is 2.3 s; the rest is for a slow machine. */
    private static final Duration REQUEST = Duration.ofSeconds(4);

    enum Step {
        CREATE("PUT /v1/session/create"),
        READ("GET /v1/kv/" + PREFIX + "key?consistent"),
        LOCK("PUT /v1/txn");

        private final String requestLine;

        Step(String requestLine) {
            this.requestLine = requestLine;
        }

        boolean matches(String line) {
            return line.startsWith(requestLine);
        }
    }

    enum Fate {
        LATE,
        LOST
    }

    private final Consul consul;
    private final TcpProxy proxy;
    private final String holder;
    private final Elections elections;
    private final Election election;

    InterruptIT(ConsulServer server) {
        this.consul = new Consul(server, PREFIX);
        this.proxy = TcpProxy.to(server.httpPort());
        this.holder = "interrupted-" + System.nanoTime();
        this.elections = ConsulElections.builder(proxy.url())
                .keyPrefix(PREFIX)
                .lockDelay(Duration.ZERO)
                .holder(holder)
                .build();
        this.election = elections.election("key");
    }

    @AfterEach
    void close() {
        elections.close();
        proxy.close();
    }

    static Stream<Arguments> stepsAndFates() {
        return Stream.of(Step.values())
                .flatMap(step -> Stream.of(Fate.values())
                        .flatMap(fate -> Stream.of(false, true).map(timed -> Arguments.of(step, fate, timed))));
    }

    @ParameterizedTest(name = "{0}, answer {1}, timed {2}")
    @MethodSource("stepsAndFates")
    void anInterruptAtAnyStepEndsTheCallAtOnce_andLeavesTheKeyFree(Step step, Fate fate, boolean timed)
            throws Exception {
        election.leader(); // from here on a lost answer is waited through
        proxy.clearRequests();
        CompletableFuture<Void> lost =
                fate == Fate.LOST ? proxy.loseNextAnswer(step::matches) : CompletableFuture.completedFuture(null);
        if (fate == Fate.LATE) {
            proxy.delay(Duration.ofMillis(900));
        }
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                Object led = timed ? election.tryAcquire(Duration.ofMinutes(1)) : election.acquire();
                ended.complete(new AssertionError("led: " + led));
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        caller.start();
        await().atMost(SOON).pollInterval(Duration.ofMillis(2)).until(() -> hasBeenSent(step) && lost.isDone());
        caller.interrupt();
        long interrupted = System.nanoTime();
        assertThat(ended.get(SOON.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(since(interrupted)).as("no answer is waited for").isLessThan(Duration.ofMillis(800));
        proxy.pass();

        try (Elections others = consul.quick().build();
                Lease lease = others.election("key").tryAcquire(SOON).orElseThrow()) {
            assertThat(since(interrupted)).isLessThan(REQUEST);
            assertThat(lease.isHeld()).isTrue();
        }
        try (Lease lease = election.tryAcquire(SOON).orElseThrow()) {
            assertThat(lease.requireToken().value()).isEqualTo(consul.index("key"));
        }
        assertThat(consul.isLocked("key")).isFalse();
        assertThat(consul.sessionsOf(holder))
                .as("a session whose answer was lost is left to expire, and no other")
                .isLessThanOrEqualTo(step == Step.CREATE && fate == Fate.LOST ? 2 : 1);
    }

    private boolean hasBeenSent(Step step) {
        return proxy.requests().stream().map(RecordedRequest::requestLine).anyMatch(step::matches);
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }
}
