package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What ends a lease, and what does not: on a real Consul. */
@ExtendWith(SharedServers.class)
class LossIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final ConsulServer server;
    private final Consul consul;
    private final String name;
    private final List<Elections> open = new ArrayList<>();

    LossIT(ConsulServer server, TestInfo test) {
        this.server = server;
        this.consul = new Consul(server);
        this.name = test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void close() {
        open.forEach(Elections::close);
    }

    private Elections opened(ConsulElections.Builder builder) {
        Elections elections = builder.build();
        open.add(elections);
        return elections;
    }

    @Test
    void aDestroyedSessionEndsAllItsLeases_andAnotherContenderLeads() throws Exception {
        Elections elections = opened(consul.quick().holder("first"));
        Election election = elections.election(name);
        Lease lease = election.acquire();
        List<Lease> siblings = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            siblings.add(elections.election(name + "/" + i).acquire());
        }
        Election other = opened(consul.quick().holder("second")).election(name);

        server.destroySession(consul.session(name));
        Lease next = other.acquire();
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason())
                .hasValueSatisfying(
                        reason -> assertThat(reason).isIn(LossReason.SESSION_EXPIRED, LossReason.LOCK_TAKEN));
        await().atMost(SOON).until(() -> siblings.stream().noneMatch(Lease::isHeld));
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(election.tryAcquire()).isEmpty();
        assertThat(election.leader()).contains("second");
    }

    @Test
    void withTheDefaultLockDelay_aDestroyedSessionIsNoticedBeforeAnybodyElseLeads() throws Exception {
        Lease lease =
                opened(ConsulElections.builder(server.url())).election(name).acquire();
        Election other = opened(ConsulElections.builder(server.url())).election(name);
        server.destroySession(consul.session(name));

        long destroyed = System.nanoTime();
        while (lease.isHeld()) {
            assertThat(other.tryAcquire()).isEmpty();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - destroyed)).isLessThan(SOON);
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
        assertThat(other.tryAcquire(Duration.ofSeconds(25))).isPresent();
        assertThat(Duration.ofNanos(System.nanoTime() - destroyed)).isGreaterThan(Duration.ofSeconds(14));
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCK_DELETED", "LOCK_RELEASED", "LOCK_TAKEN"})
    void whatIsDoneToOneKeyByHandEndsOnlyItsLease(LossReason expected) throws Exception {
        Elections elections = opened(consul.quick());
        String key = name + "/" + expected;
        Lease lease = elections.election(key).acquire();
        List<Lease> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            others.add(elections.election(key + "/" + i).acquire());
        }
        switch (expected) {
            case LOCK_DELETED -> server.deleteKey("ringfence/" + key);
            case LOCK_RELEASED -> consul.put(key, "?release=" + consul.session(key), "");
            default -> consul.passOn(key, consul.session(key), consul.foreignSession());
        }
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(lease.lossReason()).contains(expected);
        assertThat(others).allMatch(Lease::isHeld);

        Optional<Lease> again = elections.election(key).tryAcquire();
        if (expected == LossReason.LOCK_TAKEN) {
            assertThat(again).isEmpty();
        } else {
            assertThat(again.orElseThrow().fencingToken()).isGreaterThan(lease.fencingToken());
        }
    }

    @Test
    void aForeignWriteOverTheHeldKeyChangesNothing() throws Exception {
        Lease lease = opened(consul.quick()).election(name).acquire();
        Election other = opened(consul.quick()).election(name);
        consul.put(name, "", "\u0000 not ours");
        assertThat(other.tryAcquire()).isEmpty();
        assertThat(other.leader()).isEmpty();
        await().during(Duration.ofSeconds(5)).atMost(Duration.ofSeconds(8)).until(lease::isHeld);
        assertThat(lease.requireToken().value()).isLessThan(consul.index(name));
        lease.close();
        assertThat(consul.isLocked(name))
                .as("the unlock is guarded by the new index")
                .isFalse();
        assertThat(other.tryAcquire().orElseThrow().fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void aKeyHeldInOurNameWithoutALeaseIsUnlocked() throws Exception {
        Lease lease = opened(consul.quick()).election(name).acquire();
        consul.put(name + "/planted", "?acquire=" + consul.session(name), "");
        await().atMost(SOON).until(() -> !consul.isLocked(name + "/planted"));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void everyLeaseIsLostOnce_andOnlyAfterItWasHeld() throws Exception {
        Elections elections = opened(consul.quick());
        Election election = elections.election(name);
        ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
        Consumer<Lease> work = lease -> {
            events.add("held " + lease.fencingToken());
            lease.lost().thenAccept(reason -> events.add("lost " + lease.fencingToken()));
        };
        List<String> expected = new ArrayList<>();
        for (int round = 0; round < 25; round++) {
            Lease lease = election.acquire();
            work.accept(lease);
            expected.add("held " + lease.fencingToken());
            expected.add("lost " + lease.fencingToken());
            if (round % 5 == 0) {
                server.destroySession(consul.session(name));
            } else if (round % 5 == 1) {
                server.deleteKey("ringfence/" + name);
            } else {
                lease.close();
            }
            assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON);
            await().atMost(SOON).until(() -> events.size() == expected.size());
        }
        assertThat(events).containsExactlyElementsOf(expected);
    }

    @Test
    void anIdleLeaseIsKept() throws Exception {
        Lease lease = opened(consul.quick()).election(name).acquire();
        await().during(Duration.ofSeconds(25)).atMost(Duration.ofSeconds(30)).until(lease::isHeld);
        assertThat(lease.requireToken().value()).isEqualTo(consul.index(name));
    }
}
