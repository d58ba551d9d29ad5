package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.HeldAnswer;
import io.ringfence.servers.RecordedRequest;
import io.ringfence.servers.SharedServers;
import io.ringfence.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;

/** Things that happen between a request and its answer: answers are held back, so that each order is certain. */
@ExtendWith(SharedServers.class)
class InterleavingIT {
    private static final String PREFIX = "interleaving/";
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String TRANSACTION = "PUT /v1/txn";
    private static final String RENEW = "PUT /v1/session/renew";

    private final ConsulServer server;
    private final Consul consul;
    private final String name;
    private final TcpProxy proxy;
    private final List<Elections> open = new ArrayList<>();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final Queue<String> events = new ConcurrentLinkedQueue<>();

    InterleavingIT(ConsulServer server, TestInfo test) {
        this.server = server;
        this.consul = new Consul(server, PREFIX);
        this.name = test.getTestMethod().orElseThrow().getName();
        this.proxy = TcpProxy.to(server.httpPort());
    }

    @AfterEach
    void close() {
        callers.shutdownNow();
        open.forEach(Elections::close);
        proxy.close();
    }

    /** An election whose requests and answers go through the proxy. */
    private Election proxied() {
        return opened(ConsulElections.builder(proxy.url())
                        .keyPrefix(PREFIX)
                        .lockDelay(Duration.ZERO)
                        .listener(new Recorder()))
                .election(name);
    }

    private Election direct() {
        return opened(consul.quick().holder("another")).election(name);
    }

    private Elections opened(ConsulElections.Builder builder) {
        Elections elections = builder.build();
        open.add(elections);
        return elections;
    }

    private static Predicate<String> startsWith(String start) {
        return line -> line.startsWith(start);
    }

    private Predicate<String> reading() {
        return startsWith("GET /v1/kv/" + PREFIX + name + "?consistent");
    }

    private static Predicate<String> watching() {
        return startsWith("GET /v1/kv/" + PREFIX + "?recurse");
    }

    private long count(Predicate<String> line) {
        return proxy.requests().stream()
                .map(RecordedRequest::requestLine)
                .filter(line)
                .count();
    }

    /** From now on no watch is answered: each is silent until its time-out. */
    private void muteTheWatch() {
        long before = count(watching());
        for (int i = 0; i < 20; i++) {
            HeldAnswer unused = proxy.holdNextAnswer(watching());
        }
        consul.put("wake", "", Long.toString(System.nanoTime())); // answers the one that was under way
        await().atMost(SOON).until(() -> count(watching()) > before);
    }

    @Test
    void aReleaseBetweenTheAttemptAndTheWait_isTakenAtOnce() throws Exception {
        Lease held = direct().acquire();
        Election waiting = proxied();
        HeldAnswer answer = proxy.holdNextAnswer(reading());
        Future<Lease> next = callers.submit(waiting::acquire);
        answer.awaitArrival(SOON); // it says that the key is held
        long watches = count(watching());
        held.close();
        await("the watch has told of the release before the attempt is answered")
                .atMost(SOON)
                .until(() -> count(watching()) > watches);
        long released = System.nanoTime();
        answer.release();
        assertThat(next.get(SOON.toSeconds(), TimeUnit.SECONDS).requireToken()).isGreaterThan(held.fencingToken());
        assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    void anUnlockWhileAMutedWatchTellsNothing_isFoundByTheNextTry() throws Exception {
        Lease held = direct().acquire();
        Election other = proxied();
        assertThat(other.tryAcquire()).isEmpty();
        muteTheWatch();
        held.close();
        assertThat(other.tryAcquire()).as("each try asks Consul").isPresent();
    }

    @Test
    void losingTheRaceBetweenReadingFreeAndLocking_isNoLeadership() throws Exception {
        Election slow = proxied();
        direct().acquire().close();
        HeldAnswer free = proxy.holdNextAnswer(reading());
        Future<Boolean> led = callers.submit(() -> slow.tryAcquire().isPresent());
        free.awaitArrival(SOON);
        Lease winner = direct().acquire();
        free.release();
        assertThat(led.get(SOON.toSeconds(), TimeUnit.SECONDS)).isFalse();
        assertThat(count(startsWith(TRANSACTION)))
                .as("it tried, and was refused")
                .isEqualTo(1);
        assertThat(winner.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(winner.isHeld()).isTrue();
        open.forEach(Elections::close);
        assertThat(events).as("neither led nor lost").isEmpty();
    }

    @Test
    void twoThreadsOfOneProcess_shareOneContender() throws Exception {
        Elections elections = opened(consul.quick());
        for (int round = 0; round < 20; round++) {
            List<Future<Lease>> calls = List.of(
                    callers.submit(() -> elections.election(name).acquire()),
                    callers.submit(() -> elections.election(name).acquire()));
            await().atMost(SOON).until(() -> calls.stream().allMatch(Future::isDone));
            List<Lease> leases = new ArrayList<>();
            List<Throwable> refusals = new ArrayList<>();
            for (Future<Lease> call : calls) {
                try {
                    leases.add(call.get());
                } catch (ExecutionException e) {
                    refusals.add(e.getCause());
                }
            }
            assertThat(leases).hasSize(1);
            Lease lease = leases.get(0);
            assertThat(refusals)
                    .singleElement()
                    .satisfies(e -> assertThat(e)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("token " + lease.fencingToken()));
            assertThat(elections.election(name).tryAcquire()).isEmpty();
            assertThatIllegalStateException()
                    .isThrownBy(() -> elections.election(name).acquire())
                    .withMessageContaining("token " + lease.fencingToken());
            lease.close();
            assertThat(consul.index(name)).isGreaterThan(lease.fencingToken().value());
        }
    }

    @Test
    void aDestroyedSessionIsALossWithinASecond() throws Exception {
        Lease lease = proxied().acquire();
        server.destroySession(consul.session(name));
        long destroyed = System.nanoTime();
        await().pollInterval(Duration.ofMillis(5)).atMost(SOON).until(() -> !lease.isHeld());
        assertThat(Duration.ofNanos(System.nanoTime() - destroyed)).isLessThan(Duration.ofSeconds(1));
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
    }

    @Test
    void renewingADestroyedSessionIsALoss_whenTheWatchIsSilent() throws Exception {
        Lease lease = proxied().acquire();
        muteTheWatch();
        await("a renewal has just been answered")
                .atMost(SOON)
                .until(() ->
                        count(startsWith(RENEW)) >= 1 && lease.remaining().compareTo(Duration.ofMillis(7_500)) > 0);
        server.destroySession(consul.session(name));
        long destroyed = System.nanoTime();
        long renewals = count(startsWith(RENEW));
        await().pollInterval(Duration.ofMillis(5)).atMost(SOON).until(() -> !lease.isHeld());
        assertThat(Duration.ofNanos(System.nanoTime() - destroyed))
                .as("the next renewal, within a third of the ttl")
                .isLessThan(Duration.ofSeconds(5));
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
        assertThat(count(startsWith(RENEW))).isEqualTo(renewals + 1);
    }

    @Test
    void aKeyDeletedAndLockedByAnotherBetweenTwoAnswers_isNoticedByWhoseSessionItIs() throws Exception {
        Lease lease = proxied().acquire();
        server.put("/v1/txn", """
                [{"KV": {"Verb": "delete", "Key": "%1$s"}},
                 {"KV": {"Verb": "lock", "Key": "%1$s", "Session": "%2$s", "Value": ""}}]
                """.formatted(PREFIX + name, consul.foreignSession()));
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(LossReason.LOCK_TAKEN);
    }

    @Test
    void aKeyTakenWhileTheWatchIsSilent_isNoticedByReading_andOthersAreKept() throws Exception {
        Election election = proxied();
        Lease lease = election.acquire();
        Lease sibling = open.get(0).election(name + "/sibling").acquire();
        muteTheWatch();
        server.deleteKey(PREFIX + name);
        consul.put(name, "?acquire=" + consul.foreignSession(), "");
        long taken = System.nanoTime();
        await().atMost(Duration.ofSeconds(40)).until(() -> !lease.isHeld());
        Duration took = Duration.ofNanos(System.nanoTime() - taken);
        System.out.println("noticed " + took.toMillis() + " ms after the key was taken behind a silent watch");
        assertThat(took).as("wait + 5 s, then a third of the ttl").isLessThan(Duration.ofSeconds(20));
        assertThat(lease.lossReason()).contains(LossReason.LOCK_TAKEN);
        await().during(Duration.ofSeconds(12)).atMost(Duration.ofSeconds(15)).until(sibling::isHeld);
        assertThat(sibling.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
    }

    @Test
    void aNewerLeaderThatNobodyHasToldUsOf_makesConfirmSayAnythingButConfirmed() throws Exception {
        Lease lease = proxied().acquire();
        muteTheWatch();
        HeldAnswer answer = proxy.holdNextAnswer(reading());
        Future<Lease.Confirmation> asked = callers.submit(lease::confirm);
        answer.awaitArrival(SOON); // Consul said yes, and then another leads
        consul.passOn(name, consul.session(name), consul.foreignSession());
        assertThat(lease.isHeld()).as("nothing here knows yet").isTrue();
        answer.release();
        assertThat(asked.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .as("what was asked before the newer leader won")
                .isEqualTo(Lease.Confirmation.CONFIRMED);
        assertThat(lease.confirm())
                .as("what was asked after it had won, as by one who has seen its token")
                .isNotEqualTo(Lease.Confirmation.CONFIRMED);
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(LossReason.LOCK_TAKEN);
    }

    private final class Recorder implements ElectionListener {
        @Override
        public void onAcquired(Lease lease) {
            events.add("acquired " + lease.fencingToken());
        }

        @Override
        public void onLost(Lease lease, LossReason reason) {
            events.add("lost " + lease.fencingToken() + " " + reason);
        }
    }
}
