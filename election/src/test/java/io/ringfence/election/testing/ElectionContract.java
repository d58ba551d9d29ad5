package io.ringfence.election.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every implementation of {@link Elections} does, with a lock delay of zero. */
public abstract class ElectionContract extends LeaderLoopContract {

    // One winner.

    @Test
    void oneOfTwoContendersLeads_theOtherGetsNothing() {
        Elections elections = elections("first");
        Election other = contender();
        Lease lease = elections.election(name).tryAcquire().orElseThrow();
        assertThat(other.tryAcquire()).isEmpty();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.requireToken()).isEqualTo(lease.fencingToken());
        assertThat(lease.election()).isEqualTo(name).isEqualTo(other.name());
        assertThat(lease.holder()).isEqualTo("first");
        assertThat(lease.lossReason()).isEmpty();
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
        assertThat(lease.remaining()).isPositive();
    }

    @Test
    void oneOfEightContendersAtOnceLeads() throws Exception {
        CyclicBarrier together = new CyclicBarrier(8);
        List<Call<Optional<Lease>>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Election election = contender();
            calls.add(Call.start(() -> {
                together.await();
                return election.tryAcquire();
            }));
        }
        List<Lease> leases = new ArrayList<>();
        for (Call<Optional<Lease>> call : calls) {
            call.get().ifPresent(leases::add);
        }
        assertThat(leases)
                .singleElement()
                .satisfies(lease -> assertThat(lease.isHeld()).isTrue());
    }

    @Test
    void tokensGrow_overHandOversOfEveryKind() throws Exception {
        List<Elections> processes = List.of(elections(), elections());
        long last = 0;
        for (int round = 0; round < 10; round++) {
            Elections holder = processes.get(round % 2);
            Lease lease = holder.election(name).acquire();
            assertThat(lease.requireToken().value()).isGreaterThan(last);
            last = lease.fencingToken().value();
            switch (round % 5) {
                case 0 -> lease.close();
                case 1 -> takeAway(holder, name, LossReason.SESSION_EXPIRED);
                case 2 -> takeAway(holder, name, LossReason.LOCK_DELETED);
                case 3 -> takeAway(holder, name, LossReason.LOCK_RELEASED);
                default -> {
                    takeAway(holder, name, LossReason.LOCK_TAKEN);
                    letGo(name);
                }
            }
            await().atMost(SOON).until(() -> !lease.isHeld());
        }
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
    void differentNamesAreLedByDifferentProcesses() {
        Elections elections = elections();
        assertThat(elections.election(name + "/a").tryAcquire()).isPresent();
        assertThat(elections().election(name + "/b").tryAcquire()).isPresent();
        assertThat(elections.election(name + "/b").tryAcquire()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "/a", "a/", "a//b", ".", "..", "a/../b", ".a", "a?b", "a#b", "a%2Fb", "ä"})
    void refusesOtherNames(String bad) {
        Elections elections = elections();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> elections.election(bad))
                .withMessageContaining("'" + bad + "'");
    }

    // Waiting.

    @Test
    void whoWaitsTakesOver_whenTheHolderReleases() throws Exception {
        Lease lease = contender().acquire();
        Election other = contender();
        Call<Lease> waiting = Call.start(other::acquire);
        waiting.awaitBlocked();
        lease.close();
        assertThat(waiting.get().fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void ofTwoWaitingCallsOfOneProcess_oneLeadsAndTheOtherIsRefused() throws Exception {
        Lease lease = contender().acquire();
        Election other = contender();
        List<Call<Lease>> calls = List.of(Call.start(other::acquire), Call.start(other::acquire));
        for (Call<Lease> call : calls) {
            call.awaitBlocked();
        }
        lease.close();
        await().atMost(SOON)
                .until(() -> calls.stream().allMatch(call -> call.result().isDone()));
        Lease winner = calls.stream()
                .filter(call -> !call.result().isCompletedExceptionally())
                .map(call -> call.result().join())
                .findAny()
                .orElseThrow();
        assertThat(calls)
                .filteredOn(call -> call.result().isCompletedExceptionally())
                .singleElement()
                .satisfies(call -> assertThat(call.result())
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .havingCause()
                        .isInstanceOf(IllegalStateException.class)
                        .withMessageContaining("token " + winner.fencingToken()));
    }

    @Test
    void waitingIsInterruptedPromptly_andTheHolderStays() throws Exception {
        Lease lease = contender().acquire();
        Election other = contender();
        Call<Lease> waiting = Call.start(other::acquire);
        Call<Optional<Lease>> timed = Call.start(() -> other.tryAcquire(Duration.ofHours(1)));
        for (Call<?> call : List.of(waiting, timed)) {
            call.awaitBlocked();
            call.thread().interrupt();
            assertThat(call.result())
                    .failsWithin(SOON)
                    .withThrowableThat()
                    .withCauseInstanceOf(InterruptedException.class);
        }
        assertThat(lease.isHeld()).isTrue();
        lease.close();
        Lease next = contender().acquire();
        assertThat(next.isHeld())
                .as("the interrupted calls left nothing locked")
                .isTrue();
    }

    @Test
    void anInterruptedThreadContendsForNothing() {
        Election election = contender();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(election::acquire);
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> election.tryAcquire(Duration.ofSeconds(1)));
        Thread.currentThread().interrupt();
        assertThat(election.tryAcquire()).isEmpty();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(contender().leader()).isEmpty();
    }

    @Test
    void aTimedTryEndsWhenItsTimeIsUp_andDoesNotShortenALease() throws Exception {
        Lease held = contender().acquire();
        Election other = contender();
        assertThat(other.tryAcquire(Duration.ZERO)).isEmpty();
        Call<Optional<Lease>> timed = Call.start(() -> other.tryAcquire(Duration.ofSeconds(2)));
        timed.awaitBlocked();
        assertThat(timed.result()).isNotDone();
        pass(Duration.ofSeconds(2));
        assertThat(timed.get()).isEmpty();

        held.close();
        Lease lease = other.tryAcquire(Duration.ofSeconds(1)).orElseThrow();
        pass(Duration.ofSeconds(3));
        assertThat(lease.isHeld()).isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> other.tryAcquire(Duration.ofSeconds(-1)))
                .withMessageContaining("PT-1S");
    }

    // Loss.

    @ParameterizedTest
    @EnumSource(names = {"SESSION_EXPIRED", "LOCK_DELETED", "LOCK_RELEASED", "LOCK_TAKEN"})
    void aLeaseThatIsTakenAwayIsLostOnceAndForGood_andTheNextTokenIsGreater(LossReason reason) throws Exception {
        Elections elections = elections();
        Election election = elections.election(name);
        Lease lease = election.acquire();
        Lease sibling = elections.election(name + "/sibling").acquire();
        lease.lost().thenAccept(told -> events.add("lost " + told));
        takeAway(elections, name, reason);

        awaitEvent("lost " + reason);
        assertThat(lease.lost().toCompletableFuture()).isCompletedWithValue(reason);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lossReason()).contains(reason);
        assertThat(lease.remaining()).isZero();
        assertThat(lease.confirm()).isEqualTo(Confirmation.LOST);
        assertThat(lease.fencingToken().value()).isPositive();
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(lease::requireToken)
                .satisfies(lost -> {
                    assertThat(lost.election()).isEqualTo(name);
                    assertThat(lost.token()).isEqualTo(lease.fencingToken());
                    assertThat(lost.reason()).isEqualTo(reason);
                });
        boolean sessionLives = reason != LossReason.SESSION_EXPIRED;
        await().atMost(SOON).until(() -> sibling.isHeld() == sessionLives);

        if (reason == LossReason.LOCK_TAKEN) {
            assertThat(election.tryAcquire()).isEmpty();
            letGo(name);
        }
        Lease next = election.acquire();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        lease.close();
        assertThat(lease.lossReason()).contains(reason);
        assertThat(next.isHeld())
                .as("closing a lost lease does not touch the next one")
                .isTrue();
        assertThat(events).containsExactly("lost " + reason);
    }

    @Test
    void whoeverCompletesTheStageOfALossChangesNothing() throws Exception {
        Lease lease = contender().acquire();
        lease.lost().toCompletableFuture().complete(LossReason.LOCK_TAKEN);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
        lease.close();
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON).isEqualTo(LossReason.RELEASED);
    }

    @Test
    void actionsOfALossRunOnOtherThreads() throws Exception {
        Elections elections = elections();
        Lease lease = elections.election(name).acquire();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        lease.lost().thenRun(() -> thread.complete(Thread.currentThread()));
        takeAway(elections, name, LossReason.LOCK_DELETED);
        await().atMost(SOON).until(() -> !lease.isHeld());
        assertThat(thread).succeedsWithin(SOON).isNotEqualTo(Thread.currentThread());
    }

    @Test
    void listenersHearOfEachLeaseOnce_inOrder() throws Exception {
        Elections elections = elections(recorder("one "), recorder("two "));
        List<String> expected = new ArrayList<>();
        for (int round = 0; round < 12; round++) {
            Lease lease = elections.election(name).acquire();
            LossReason reason = round % 3 == 0 ? LossReason.LOCK_DELETED : LossReason.RELEASED;
            if (reason == LossReason.RELEASED) {
                lease.close();
            } else {
                takeAway(elections, name, reason);
            }
            expected.add("acquired " + lease.fencingToken());
            expected.add("lost " + lease.fencingToken() + " " + reason);
            assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON);
        }
        await().atMost(SOON).until(() -> events.size() == 2 * expected.size());
        for (String listener : List.of("one ", "two ")) {
            assertThat(events.stream().filter(event -> event.startsWith(listener)))
                    .containsExactlyElementsOf(
                            expected.stream().map(listener::concat).toList());
        }
    }

    @Test
    void callbacksThatThrowOrBlock_delayNoLossAndNobodyElse() throws Exception {
        Elections elections = elections(new Blocking(), new Throwing(), recorder(""));
        Lease lease = elections.election(name).acquire();
        lease.lost().thenRun(this::block);
        lease.lost().thenRun(() -> {
            throw new IllegalStateException("thrown by an action of a test");
        });
        Lease sibling = elections.election(name + "/sibling").acquire();
        takeAway(elections, name, LossReason.SESSION_EXPIRED);
        await().atMost(SOON).until(() -> !lease.isHeld() && !sibling.isHeld());
        assertThat(sibling.lost().toCompletableFuture()).succeedsWithin(SOON);
        awaitEvent("lost " + lease.fencingToken() + " SESSION_EXPIRED");
        Lease next = elections.election(name).acquire();
        next.close();
        assertThat(next.lost().toCompletableFuture()).succeedsWithin(SOON);
        awaitEvent("lost " + next.fencingToken() + " RELEASED");
    }

    // Closing, and what others see.

    @Test
    void closingALeaseGivesTheLockBack_andIsHarmlessTwice_atOnce_andInsideALossAction() throws Exception {
        Lease lease = contender().acquire();
        CompletableFuture<Void> inside =
                lease.lost().thenAccept(reason -> lease.close()).toCompletableFuture();
        List<Call<Boolean>> closes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            closes.add(Call.start(() -> {
                lease.close();
                return true;
            }));
        }
        for (Call<Boolean> close : closes) {
            assertThat(close.get()).isTrue();
        }
        lease.close();
        assertThat(inside).succeedsWithin(SOON);
        assertThat(lease.lossReason()).contains(LossReason.RELEASED);
        assertThat(contender().tryAcquire()).isPresent();
    }

    @Test
    void closingTheElectionsEndsLeasesAndWaitingCalls_andAllLaterUse() throws Exception {
        Elections elections = elections(recorder(""));
        Election election = elections.election(name);
        Lease lease = election.acquire();
        contender().tryAcquire().ifPresent(unexpected -> events.add("two leaders"));
        elections().election(name + "/other").acquire();
        Call<Lease> waiting =
                Call.start(() -> elections.election(name + "/other").acquire());
        waiting.awaitBlocked();
        Call<Boolean> second = Call.start(() -> {
            elections.close();
            return true;
        });
        elections.close();
        assertThat(second.get()).isTrue();
        elections.close();

        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lossReason()).contains(LossReason.SHUTDOWN);
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(SOON).isEqualTo(LossReason.SHUTDOWN);
        awaitEvent("lost " + lease.fencingToken() + " SHUTDOWN");
        assertThat(waiting.result())
                .failsWithin(SOON)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining("closed");
        for (Callable<?> use : List.<Callable<?>>of(
                election::acquire,
                election::tryAcquire,
                election::leader,
                () -> election.tryAcquire(Duration.ofSeconds(1)),
                () -> election.lead(unused -> {}),
                () -> elections.election(name))) {
            assertThatIllegalStateException().isThrownBy(use::call).withMessageContaining("closed");
        }
        assertThat(contender().tryAcquire()).isPresent();
        assertThat(events)
                .containsExactly("acquired " + lease.fencingToken(), "lost " + lease.fencingToken() + " SHUTDOWN");
    }

    @Test
    void leaderNamesTheHolder_andNobodyWhenNobodyLeads() throws Exception {
        Election watcher = contender();
        assertThat(watcher.leader()).isEmpty();
        Lease lease = elections("node-7").election(name).acquire();
        assertThat(watcher.leader()).contains("node-7");
        assertThat(lease.holder()).isEqualTo("node-7");
        lease.close();
        assertThat(watcher.leader()).isEmpty();
    }

    @Test
    void confirmsALeaseThatIsHeld() throws Exception {
        Lease lease = contender().acquire();
        assertThat(lease.confirm()).isEqualTo(Confirmation.CONFIRMED);
        Thread.currentThread().interrupt();
        assertThat(lease.confirm()).isEqualTo(Confirmation.UNKNOWN);
        assertThat(Thread.interrupted()).isTrue();
        lease.close();
        assertThat(lease.confirm()).isEqualTo(Confirmation.LOST);
    }

    @Test
    void aLeaseSaysWhatItIs() throws Exception {
        Lease lease = contender().acquire();
        assertThat(lease).asString().contains(name, "token=" + lease.fencingToken(), "held");
        lease.close();
        assertThat(lease).asString().contains("RELEASED");
    }
}
