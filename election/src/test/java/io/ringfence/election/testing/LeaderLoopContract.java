package io.ringfence.election.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.FencingToken;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every leader loop does. */
abstract class LeaderLoopContract extends ElectionFixture {
    private static final LeaderLoop.Options QUICK =
            LeaderLoop.Options.defaults().backoff(Duration.ofMillis(1), Duration.ofMillis(20));

    private void work(Lease lease) throws InterruptedException {
        events.add("works " + lease.requireToken());
        try {
            neverEnds.await();
        } finally {
            events.add("ended " + lease.lossReason().map(Enum::name).orElse("held"));
        }
    }

    private boolean works(FencingToken after) {
        return events.stream()
                .filter(event -> event.startsWith("works "))
                .anyMatch(event -> Long.parseLong(event.substring(6)) > after.value());
    }

    private void awaitWork() {
        await().atMost(SOON).until(() -> events.stream().anyMatch(event -> event.startsWith("works ")));
    }

    @ParameterizedTest
    @EnumSource(names = {"SESSION_EXPIRED", "LOCK_DELETED", "LOCK_RELEASED", "LOCK_TAKEN"})
    void aLoopInterruptsItsWorkOnALoss_andLeadsAgain(LossReason reason) {
        Elections elections = elections();
        CompletableFuture<Lease> first = new CompletableFuture<>();
        elections
                .election(name)
                .lead(
                        lease -> {
                            first.complete(lease);
                            work(lease);
                        },
                        QUICK);
        awaitWork();
        takeAway(elections, name, reason);
        awaitEvent("ended " + reason);
        if (reason == LossReason.LOCK_TAKEN) {
            letGo(name);
        }
        await().atMost(SOON).until(() -> works(first.join().fencingToken()));
    }

    @Test
    void aLoopGivesTheLockBackOnlyWhenItsWorkHasEnded() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        Election election = contender();
        LeaderLoop loop = election.lead(
                lease -> {
                    try {
                        work(lease);
                    } finally {
                        mayEnd.await();
                        events.add("gone");
                    }
                },
                QUICK);
        assertThat(loop.election()).isEqualTo(name);
        awaitWork();
        Election other = contender();
        Call<Boolean> next = Call.start(() -> other.acquire().isHeld() && events.contains("gone"));
        Call<Boolean> close = Call.start(() -> {
            loop.close();
            return true;
        });
        awaitEvent("ended RELEASED");
        next.awaitBlocked();
        assertThat(other.tryAcquire()).isEmpty();
        assertThat(election.tryAcquire()).isEmpty();
        assertThat(close.result()).isNotDone();
        mayEnd.countDown();
        assertThat(close.get()).isTrue();
        assertThat(next.get()).isTrue();
        loop.close();
    }

    @Test
    void closingTheElectionsStopsLoops_andWaitsForTheirWork() {
        Elections elections = elections();
        elections.election(name).lead(this::work, QUICK);
        awaitWork();
        elections.close();
        assertThat(events).contains("ended SHUTDOWN");
        assertThat(contender().tryAcquire()).isPresent();
    }

    @Test
    void aLoopGoesOn_whenItsWorkReturnsOrThrows_withGreaterTokens() {
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        contender()
                .lead(
                        lease -> {
                            tokens.add(lease.requireToken().value());
                            if (tokens.size() % 2 == 0) {
                                throw new IllegalStateException("thrown by the work of a test");
                            }
                        },
                        QUICK);
        await().atMost(SOON).until(() -> tokens.size() >= 6);
        assertThat(new ArrayList<>(tokens)).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void workThatIgnoresTheInterrupt_isNotWaitedForLongerThanTheStopTimeout() {
        Election election = contender();
        LeaderLoop loop = election.lead(
                lease -> {
                    events.add("works " + lease.requireToken());
                    block();
                },
                QUICK.stopTimeout(Duration.ofMillis(200)));
        awaitWork();
        loop.close();
        assertThat(events).contains("an interrupt was ignored");
        assertThat(contender().tryAcquire()).as("its key is unlocked").isPresent();
        assertThatIllegalStateException()
                .as("no second work next to the first")
                .isThrownBy(() -> election.lead(this::work));
    }

    @Test
    void aLoopClosedByItsOwnWork_keepsTheLockUntilThatHasEnded() {
        CompletableFuture<LeaderLoop> self = new CompletableFuture<>();
        CompletableFuture<Boolean> taken = new CompletableFuture<>();
        Election other = contender();
        self.complete(contender()
                .lead(
                        lease -> {
                            events.add("works " + lease.requireToken());
                            self.get().close();
                            events.add("closed " + lease.lossReason().orElseThrow());
                            assertThatExceptionOfType(InterruptedException.class)
                                    .isThrownBy(neverEnds::await);
                            taken.complete(other.tryAcquire().isPresent());
                        },
                        QUICK));
        awaitEvent("closed RELEASED");
        self.join().close();
        assertThat(taken).succeedsWithin(SOON).isEqualTo(false);
        assertThat(other.tryAcquire()).isPresent();
    }

    @Test
    void aLoopThatWaitsForItsTurnIsClosedPromptly() throws Exception {
        Lease lease = contender().acquire();
        Election other = contender();
        LeaderLoop loop = other.lead(this::work, QUICK);
        Call<Boolean> close = Call.start(() -> {
            loop.close();
            return true;
        });
        assertThat(close.get()).isTrue();
        lease.close();
        assertThat(contender().tryAcquire()).as("it contends no more").isPresent();
        assertThat(events).isEmpty();
    }

    @Test
    void aSecondLoopOfOneNameIsRefused_untilTheFirstIsClosed() {
        Election election = contender();
        LeaderLoop first = election.lead(this::work, QUICK);
        assertThatIllegalStateException()
                .isThrownBy(() -> election.lead(this::work))
                .withMessageContaining("'" + name + "'");
        first.close();
        election.lead(this::work, QUICK);
        awaitWork();
    }

    @Test
    void theListenerOfALoopHearsOfItsTerms() {
        contender().lead(lease -> {}, QUICK.listener(recorder("")));
        await().atMost(SOON).until(() -> events.size() >= 4);
        assertThat(events.stream().map(event -> event.replaceAll("[0-9]+", "n")).limit(4))
                .containsExactly("acquired n", "lost n RELEASED", "acquired n", "lost n RELEASED");
    }

    @Test
    void workMayCloseItsOwnLeaseLoopOrElections() {
        Elections elections = elections();
        CompletableFuture<Boolean> held = new CompletableFuture<>();
        elections
                .election(name)
                .lead(
                        lease -> {
                            lease.close();
                            elections.close();
                            held.complete(lease.isHeld());
                        },
                        QUICK);
        assertThat(held).succeedsWithin(SOON).isEqualTo(false);
        elections.close();
        assertThat(contender().tryAcquire()).isPresent();
    }
}
