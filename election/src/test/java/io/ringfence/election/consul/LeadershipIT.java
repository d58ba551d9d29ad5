package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who leads, with which token, and how leadership passes on: on a real Consul. */
@ExtendWith(SharedServers.class)
class LeadershipIT {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final ConsulServer server;
    private final Consul consul;
    private final String name;
    private final List<Elections> open = new ArrayList<>();

    LeadershipIT(ConsulServer server, TestInfo test) {
        this.server = server;
        this.consul = new Consul(server);
        this.name = test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void close() {
        open.forEach(Elections::close);
    }

    private Elections elections() {
        return opened(consul.quick().holder(name));
    }

    private Elections opened(ConsulElections.Builder builder) {
        Elections elections = builder.build();
        open.add(elections);
        return elections;
    }

    private Election contender() {
        return elections().election(name);
    }

    @Test
    void oneOfTwoContendersGetsTheLease_theOtherNothing() {
        Election first = contender();
        Election second = contender();
        Lease lease = first.tryAcquire().orElseThrow();
        assertThat(second.tryAcquire()).isEmpty();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.requireToken().value()).isEqualTo(consul.index(name)).isPositive();
    }

    @Test
    void oneOfEightContendersAtOnceGetsTheLease() throws Exception {
        List<Optional<Lease>> tries = Consul.atOnce(8, () -> contender().tryAcquire());
        List<Lease> leases = tries.stream().flatMap(Optional::stream).toList();
        assertThat(leases)
                .singleElement()
                .satisfies(lease -> assertThat(lease.isHeld()).isTrue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"closed", "session destroyed", "key deleted", "closed, session destroyed, key deleted"})
    void tokensGrow_overHandOversOfEveryKind(String kinds) throws Exception {
        List<String> ways = List.of(kinds.split(", ", -1));
        Election first = contender();
        Election second = contender();
        Lease lease = first.acquire();
        for (int handOver = 0; handOver < 6; handOver++) {
            Election next = handOver % 2 == 0 ? second : first;
            Lease previous = lease;
            switch (ways.get(handOver % ways.size())) {
                case "closed" -> previous.close();
                case "session destroyed" -> server.destroySession(consul.session(name));
                default -> server.deleteKey("ringfence/" + name);
            }
            lease = next.acquire();
            assertThat(lease.requireToken()).isGreaterThan(previous.fencingToken());
            await().atMost(SOON).until(() -> !previous.isHeld());
        }
    }

    @Test
    void handsOverWithinASecond_whenTheHolderReleases() throws Exception {
        Election first = contender();
        Election second = contender();
        for (int i = 0; i < 20; i++) {
            Lease lease = first.acquire();
            CompletableFuture<Lease> waiting = new CompletableFuture<>();
            Thread thread = start(() -> waiting.complete(second.acquire()));
            await().until(() -> thread.getState() == Thread.State.WAITING);
            long released = System.nanoTime();
            lease.close();
            Lease next = waiting.get();
            assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(Duration.ofSeconds(1));
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
        }
    }

    @Test
    void twoContendersHandOverManyTimes_withoutMakingSessions() throws Exception {
        Election first = contender();
        Election second = contender();
        first.acquire().close();
        second.acquire().close();
        long sessions = consul.sessionsOf(name);
        long last = 0;
        for (int i = 0; i < 100; i++) {
            Lease lease = (i % 2 == 0 ? first : second).acquire();
            assertThat(lease.requireToken().value()).isGreaterThan(last);
            last = lease.fencingToken().value();
            lease.close();
        }
        assertThat(consul.sessionsOf(name)).isEqualTo(sessions).isPositive();
    }

    @Test
    void oneNameIsOneContender_inOneElections() throws Exception {
        Elections elections = elections();
        Lease lease = elections.election(name).acquire();
        Election same = elections.election(name);
        assertThat(same.tryAcquire()).isEmpty();
        assertThat(same.tryAcquire(Duration.ofMinutes(1))).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(same::acquire)
                .withMessageContaining("token " + lease.fencingToken());
        lease.close();
        assertThat(same.acquire().fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void failedAttemptsMakeNoSessions() throws Exception {
        contender().acquire();
        Election other = contender();
        assertThat(other.tryAcquire()).isEmpty();
        await().atMost(SOON).until(() -> consul.sessionsOf(name) == 2); // a "no" may come before the session
        for (int i = 0; i < 100; i++) {
            assertThat(other.tryAcquire()).isEmpty();
        }
        assertThat(consul.sessionsOf(name)).isEqualTo(2);
    }

    @Test
    void aTimedTryEndsOnTime_andDoesNotShortenTheLease() throws Exception {
        Lease held = contender().acquire();
        Election other = contender();
        long before = System.nanoTime();
        assertThat(other.tryAcquire(Duration.ofSeconds(1))).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(3));
        held.close();
        Lease lease = other.tryAcquire(Duration.ofSeconds(5)).orElseThrow();
        await().during(Duration.ofSeconds(6)).atMost(Duration.ofSeconds(8)).until(lease::isHeld);
    }

    @Test
    void waitingIsInterruptedPromptly_andTheHolderStays() throws Exception {
        Lease lease = contender().acquire();
        Election other = contender();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = start(() -> {
            assertThatThrownBy(other::acquire).satisfies(thrown::set);
            return null;
        });
        await().until(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        thread.join(2_000);
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        assertThat(lease.isHeld()).isTrue();
        lease.close();
        assertThat(other.tryAcquire(SOON)).isPresent();
    }

    @Test
    void anInterruptedThreadContendsForNothing() {
        Election election = contender();
        Thread.currentThread().interrupt();
        assertThatThrownBy(election::acquire).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThat(election.tryAcquire()).isEmpty();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(contender().leader()).isEmpty();
    }

    @Test
    void closingGivesTheKeyBack_andIsHarmlessTwice_atOnce_andInsideALossAction() throws Exception {
        Election election = contender();
        Lease lease = election.acquire();
        CompletableFuture<Void> inside =
                lease.lost().thenAccept(reason -> lease.close()).toCompletableFuture();
        Consul.atOnce(4, () -> {
            lease.close();
            return null;
        });
        lease.close();
        assertThat(inside).succeedsWithin(SOON);
        assertThat(lease.lossReason()).contains(LossReason.RELEASED);
        assertThat(consul.isLocked(name)).isFalse();
        assertThat(contender().tryAcquire()).isPresent();
    }

    @Test
    void closingAllGivesEveryKeyBackAtOnce_inSpiteOfTheLockDelay_andRemovesTheSession() throws Exception {
        Elections elections = opened(ConsulElections.builder(server.url()));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            leases.add(elections.election(name + "/" + i).acquire());
        }
        String session = consul.session(name + "/0");
        CompletableFuture<LossReason> told = leases.get(0).lost().toCompletableFuture();
        elections.close();

        assertThat(told).succeedsWithin(SOON).isEqualTo(LossReason.SHUTDOWN);
        assertThat(leases).noneMatch(Lease::isHeld);
        assertThat(server.get("/v1/session/info/" + session)).isEqualTo("[]");
        Elections others = elections();
        for (int i = 0; i < 70; i++) {
            assertThat(others.election(name + "/" + i).tryAcquire()).isPresent();
        }
    }

    @Test
    void closingAllEndsWaitingCalls() throws Exception {
        contender().acquire();
        Elections elections = elections();
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread thread = start(() -> {
            assertThatThrownBy(() -> elections.election(name).acquire()).satisfies(thrown::complete);
            return null;
        });
        await().until(() -> thread.getState() == Thread.State.WAITING);
        elections.close();
        assertThat(thrown).succeedsWithin(SOON).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void leaderNamesTheHolder_andNobodyWhenNoLiveSessionHoldsTheKey() throws Exception {
        Election watcher = contender();
        assertThat(watcher.leader()).as("no key").isEmpty();
        Lease lease = opened(consul.quick().holder("node-7")).election(name).acquire();
        assertThat(watcher.leader()).contains("node-7");
        assertThat(lease.holder()).isEqualTo("node-7");
        lease.close();
        assertThat(watcher.leader()).as("a value but no session").isEmpty();
        consul.put(name, "?acquire=" + consul.foreignSession(), "somebody else's bytes");
        assertThat(watcher.leader()).as("a foreign value").isEmpty();
    }

    @Test
    void aForeignValueThatIsNoText_namesNobody_andHindersNobody() throws Exception {
        byte[] noText = {(byte) 0xc3, 0x28, (byte) 0xff, 0, (byte) 0xed, (byte) 0xa0, (byte) 0x80};
        String foreign = consul.foreignSession();
        consul.write("lock", name, foreign, noText);
        Election election = contender();
        assertThat(election.leader()).isEmpty();
        assertThat(election.tryAcquire()).isEmpty();
        CompletableFuture<Lease> waiting = new CompletableFuture<>();
        start(() -> waiting.complete(election.acquire()));
        await().during(Duration.ofMillis(500)).atMost(SOON).until(() -> !waiting.isDone());
        long held = consul.index(name);
        server.destroySession(foreign);
        assertThat(waiting).succeedsWithin(SOON);
        try (Lease lease = waiting.join()) {
            long token = lease.requireToken().value();
            assertThat(token).isGreaterThan(held);
            consul.write("set", name, "", noText);
            assertThat(election.leader()).isEmpty();
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
            await().during(Duration.ofSeconds(1)).atMost(SOON).until(lease::isHeld);
            assertThat(lease.requireToken().value()).isEqualTo(token);
        }
        assertThat(consul.isLocked(name)).isFalse();
    }

    @Test
    void theSessionIsWhatWasConfigured_withoutTheNodesHealth() throws Exception {
        for (Duration delay : List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(15))) {
            String key = name + "/" + delay.toSeconds();
            opened(consul.quick().lockDelay(delay)).election(key).acquire();
            JsonObject info = sessionInfo(key);
            assertThat(info.get("LockDelay").getAsLong()).isEqualTo(delay.toNanos());
            assertThat(info.get("Behavior").getAsString()).isEqualTo("release");
            assertThat(info.get("TTL").getAsString()).isEqualTo("10000ms");
            assertThat(info.get("NodeChecks").isJsonNull()
                            || info.get("NodeChecks").getAsJsonArray().isEmpty())
                    .isTrue();
        }
    }

    @Test
    void theSessionIsBoundToTheNodesHealth_whereThatIsAskedFor() throws Exception {
        opened(consul.quick().serfHealth()).election(name).acquire();
        assertThat(sessionInfo(name).getAsJsonArray("NodeChecks").toString()).isEqualTo("[\"serfHealth\"]");
    }

    private JsonObject sessionInfo(String key) {
        return JsonParser.parseString(server.get("/v1/session/info/" + consul.session(key)))
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void confirms_whatConsulSays() throws Exception {
        Lease lease = contender().acquire();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        Thread.currentThread().interrupt();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.UNKNOWN);
        assertThat(Thread.interrupted()).isTrue();
        lease.close();
        assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.LOST);
    }

    private static Thread start(java.util.concurrent.Callable<?> action) {
        Thread thread = new Thread(() -> {
            try {
                action.call();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
