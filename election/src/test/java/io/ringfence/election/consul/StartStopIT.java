package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A contender that is started and stopped over and over, beside one that never leads. */
@ExtendWith(SharedServers.class)
class StartStopIT {
    private static final int ROUNDS = 50;
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String NAME = "start-stop";

    private final Consul consul;
    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final Queue<String> loserEvents = new ConcurrentLinkedQueue<>();

    StartStopIT(ConsulServer server) {
        this.consul = new Consul(server);
    }

    private record Recorder(Queue<String> events) implements ElectionListener {
        @Override
        public void onAcquired(Lease lease) {
            events.add("acquired " + lease.fencingToken());
        }

        @Override
        public void onLost(Lease lease, LossReason reason) {
            events.add("lost " + lease.fencingToken() + " " + reason);
        }
    }

    @Test
    void acquiredAndLostAlternate_over50Starts_andWhoNeverLedLosesNothing() throws Exception {
        List<String> expected = new ArrayList<>();
        long last = 0;
        try (Elections loser =
                consul.quick().listener(new Recorder(loserEvents)).build()) {
            Election losing = loser.election(NAME);
            for (int round = 0; round < ROUNDS; round++) {
                try (Elections started =
                        consul.quick().listener(new Recorder(events)).build()) {
                    Lease lease = round % 3 == 2 ? leadInLoop(started, losing) : lead(started, losing, round % 3 == 1);
                    assertThat(lease.fencingToken().value()).isGreaterThan(last);
                    last = lease.fencingToken().value();
                    expected.add("acquired " + last);
                    expected.add("lost " + last + (round % 3 == 0 ? " SHUTDOWN" : " RELEASED"));
                }
                await().atMost(SOON).until(() -> events.size() >= expected.size());
            }
        }
        assertThat(events).containsExactlyElementsOf(expected);
        assertThat(loserEvents).isEmpty();
    }

    private static Lease lead(Elections started, Election losing, boolean release) throws InterruptedException {
        Lease lease = started.election(NAME).acquire();
        assertThat(losing.tryAcquire()).isEmpty();
        if (release) {
            lease.close();
        }
        return lease;
    }

    private static Lease leadInLoop(Elections started, Election losing) throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        CountDownLatch leading = new CountDownLatch(1);
        try (LeaderLoop loop = started.election(NAME).lead(lease -> {
            leases.add(lease);
            leading.countDown();
            new CountDownLatch(1).await();
        })) {
            leading.await();
            assertThat(losing.tryAcquire()).as(loop.election()).isEmpty();
        }
        return leases.get(0);
    }
}
