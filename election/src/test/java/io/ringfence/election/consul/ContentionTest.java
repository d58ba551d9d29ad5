package io.ringfence.election.consul;

import static io.ringfence.election.consul.HandDrivenConsul.failed;
import static io.ringfence.election.consul.HandDrivenConsul.leaseOf;
import static io.ringfence.election.consul.HandDrivenConsul.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.ElectionException;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.election.consul.ConsulAnswer.Refusal;
import io.ringfence.election.consul.ConsulRequest.CreateSession;
import io.ringfence.election.consul.ConsulRequest.DestroySession;
import io.ringfence.election.consul.ConsulRequest.Lock;
import io.ringfence.election.consul.ConsulRequest.Read;
import io.ringfence.election.consul.ConsulRequest.RenewSession;
import io.ringfence.election.consul.ConsulRequest.Unlock;
import io.ringfence.election.consul.ConsulRequest.UnlockAll;
import io.ringfence.election.consul.ConsulRequest.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ContentionTest {
    private static final String KEY = HandDrivenConsul.PREFIX + "job";

    private final HandDrivenConsul consul = new HandDrivenConsul();

    @Test
    void locksAMissingKey_guardedByItsAbsence() {
        Ticket ticket = free();
        Lock lock = consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        assertThat(lock.guard().exists()).isFalse();
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(7);
    }

    @Test
    void locksAFreeKey_guardedByTheIndexAtWhichItWasSeenFree() {
        consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.unlocked(KEY, 5));
        assertThat(consul.open(Lock.class).guard().index()).isEqualTo(5);
    }

    @Test
    void readsAgain_whenTheGuardRefuses() {
        Ticket ticket = free();
        consul.answer(Lock.class, refused(Refusal.GUARD));
        consul.readSays(KeyState.unlocked(KEY, 6));
        assertThat(consul.open(Lock.class).guard().index()).isEqualTo(6);
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(9));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(9);
    }

    @Test
    void unlocksAKeyThatAFirstCopyOfTheLockTook_whenTheSecondIsRefused_andNobodyWaitsAnyMore() {
        Ticket ticket = free();
        assertThat(consul.machine.cancel(ticket)).isEmpty();
        consul.answer(Lock.class, refused(Refusal.GUARD));
        consul.readSays(KeyState.heldBy("s1", KEY, 6));
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(6);
    }

    @Test
    void settlesALostLockAnswer_byReading_andKeepsTheLostGrant() {
        Ticket ticket = free();
        consul.answer(Lock.class, failed());
        consul.pass(Duration.ofMillis(100));
        assertThat(ticket.result).isNotDone();
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(7);
        assertThat(consul.sent(Lock.class)).hasSize(1);
    }

    @Test
    void settlesALostLockAnswer_andTriesAgain_whenTheLockDidNotArrive() {
        Ticket ticket = free();
        consul.answer(Lock.class, failed());
        consul.pass(Duration.ofMillis(100));
        consul.readSays(KeyState.absent(KEY, 3));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(8));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(8);
    }

    @Test
    void unlocks_whatACancelledCallHasLocked_andTheNextCallWaitsForIt() {
        Ticket first = free();
        Lock lock = consul.open(Lock.class);
        assertThat(consul.machine.cancel(first)).isEmpty();
        consul.answer(lock, new ConsulAnswer.KeyChanged(7));
        Ticket second = consul.contend("job");
        assertThat(second.result).isNotDone();

        Unlock unlock = consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(8));
        assertThat(unlock.guard().index()).isEqualTo(7);
        assertThat(consul.open(Lock.class).guard().index()).isEqualTo(8);
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(9));
        assertThat(leaseOf(second).fencingToken().value()).isEqualTo(9);
    }

    @Test
    void unlocks_whatACancelledCallHasLocked_whenTheAnswerIsLostToo() {
        Ticket first = free();
        assertThat(consul.machine.cancel(first)).isEmpty();
        consul.answer(Lock.class, failed());
        consul.pass(Duration.ofMillis(100));
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(7);
    }

    @Test
    void unlocksWithTheNewIndex_whenAForeignPutMovedTheKey() {
        ConsulLease lease = consul.win("job", "s1", 7);
        CompletableFuture<Void> released = consul.machine.release(lease);
        assertThat(lease.lossReason()).contains(LossReason.RELEASED);
        assertThat(consul.answer(Unlock.class, refused(Refusal.GUARD)).guard().index())
                .isEqualTo(7);
        consul.readSays(KeyState.heldBy("s1", KEY, 12));
        assertThat(released).isNotDone();
        Unlock second = consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(13));
        assertThat(second.guard().index()).isEqualTo(12);
        assertThat(released).isCompleted();
    }

    @Test
    void aReleaseIsDone_whenTheKeyIsUnlocked_evenIfTheNextCallLocksItAtOnce() {
        ConsulLease lease = consul.win("job", "s1", 7);
        CompletableFuture<Void> released = consul.machine.release(lease);
        Ticket next = consul.contend("job");
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(8));
        assertThat(released).isCompleted();
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(9));
        assertThat(leaseOf(next).isHeld()).isTrue();
    }

    @Test
    void aReleaseIsDone_whenAReadFailedAndTheWatchShowsTheKeyUnlocked() {
        ConsulLease lease = consul.win("job", "s1", 7);
        lease.slot.suspect();
        CompletableFuture<Void> released = consul.machine.release(lease);
        consul.answer(Read.class, failed());
        consul.watchSays(9, KeyState.unlocked(KEY, 9));
        consul.pass(Duration.ofMillis(100));
        if (consul.isOpen(Read.class)) {
            consul.readSays(KeyState.unlocked(KEY, 9));
        }
        assertThat(released).isCompleted();
    }

    @Test
    void settlesALostUnlockAnswer() {
        ConsulLease lease = consul.win("job", "s1", 7);
        CompletableFuture<Void> released = consul.machine.release(lease);
        consul.answer(Unlock.class, failed());
        consul.pass(Duration.ofMillis(100));
        consul.readSays(KeyState.unlocked(KEY, 8));
        assertThat(released).isCompleted();
        assertThat(consul.isOpen(Unlock.class)).isFalse();
    }

    @Test
    void unlocksAKeyThatIsHeldInItsNameWithoutALease() {
        consul.win("other", "s1", 7);
        consul.watchSays(
                20, KeyState.heldBy("s1", HandDrivenConsul.PREFIX + "other", 7), KeyState.heldBy("s1", KEY, 20));
        consul.readSays(KeyState.heldBy("s1", KEY, 20));
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(20);
    }

    @Test
    void neverSleepsOnAFreeLock_whenTheReleaseFallsBetweenAttemptAndWait() {
        Ticket ticket = free();
        Watch watch = consul.open(Watch.class);
        consul.answer(watch, new ConsulAnswer.KeyList(9, List.of(KeyState.unlocked(KEY, 9)), 100));
        consul.answer(Lock.class, refused(Refusal.HELD));
        consul.readSays(KeyState.heldBy("other", KEY, 8)); // older than what the watch told in the meantime
        assertThat(consul.open(Lock.class).guard().index()).isEqualTo(9);
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(10));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(10);
    }

    @Test
    void writesNothing_whileSomebodyElseLeads() {
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.heldBy("other", KEY, 5));
        consul.forgetSent();
        for (int second = 0; second < 60; second++) {
            consul.pass(Duration.ofSeconds(1));
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
            if (second % 10 == 9) {
                consul.watchSays(5, KeyState.heldBy("other", KEY, 5));
            }
        }
        assertThat(ticket.result).isNotDone();
        assertThat(consul.sent(Lock.class)).isEmpty();
        assertThat(consul.sent(Read.class)).isEmpty();
        assertThat(consul.sent(Watch.class).size()).isBetween(5, 7);
        assertThat(consul.sent(RenewSession.class).size()).isBetween(17, 22);
    }

    @Test
    void takesAFreedLockAtOnce_whenTheWatchTells() {
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.heldBy("other", KEY, 5));
        consul.watchSays(6, KeyState.unlocked(KEY, 6));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(7);
    }

    @Test
    void doesNotSleepOnAFreeLock_whenIndexesWentBack() {
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.heldBy("other", KEY, 213));
        consul.watchSays(217, KeyState.unlocked(KEY, 10)); // restored, and then another key was written
        consul.readSays(KeyState.unlocked(KEY, 10));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(218));
        assertThat(leaseOf(ticket).fencingToken().value()).isEqualTo(218);
    }

    @Test
    void endsThePauseOfALockDelay_whenSomebodyCouldLockTheKey() {
        Ticket ticket = free();
        consul.answer(Lock.class, refused(Refusal.LOCK_DELAY));
        consul.watchSays(9, KeyState.heldBy("other", KEY, 9));
        consul.pass(Duration.ofMillis(10));
        consul.watchSays(10, KeyState.unlocked(KEY, 10));
        assertThat(consul.open(Lock.class).guard().index()).isEqualTo(10);
        assertThat(ticket.result).isNotDone();
    }

    @Test
    void answersATryAtOnce_whenTheRenewalBeforeAGrantFails() {
        Ticket ticket = consul.machine.contend("job", Ticket.Mode.ONCE);
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.pass(Duration.ofMillis(4_500));
        consul.readSays(KeyState.absent(KEY, 1));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        consul.answer(RenewSession.class, failed());
        assertThat(ticket.result).isCompletedExceptionally();
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(7);
    }

    @Test
    void triesLessAndLessOften_inALockDelay_andAllKeysTogetherAtMostFiftyTimesASecond() {
        int elections = 40;
        for (int i = 0; i < elections; i++) {
            consul.contend("job" + i);
        }
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        while (consul.isOpen(Read.class)) {
            Read read = consul.open(Read.class);
            consul.answer(read, new ConsulAnswer.KeyRead(KeyState.unlocked(read.key(), 3)));
        }
        consul.forgetSent();
        for (int i = 0; i < 5_000; i += 10) {
            while (consul.isOpen(Lock.class)) {
                consul.answer(Lock.class, refused(Refusal.LOCK_DELAY));
            }
            consul.pass(Duration.ofMillis(10));
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
        }
        assertThat(consul.sent(Lock.class).size()).isBetween(5 * elections, 5 * 50 + elections);
        assertThat(consul.sent(Read.class)).isEmpty();
    }

    @Test
    void answersNo_whenAskedOnce_andSomebodyLeads() {
        Ticket ticket = consul.machine.contend("job", Ticket.Mode.ONCE);
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.heldBy("other", KEY, 5));
        assertThat(ticket.result).isCompletedWithValue(java.util.Optional.empty());
    }

    @Test
    void refusesASecondWait_namingTheToken_andAnswersNoToATry() {
        consul.win("job", "s1", 7);
        assertThatThrownBy(() -> consul.contend("job").result.join())
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("token 7");
        assertThat(consul.machine.contend("job", Ticket.Mode.ONCE).result)
                .isCompletedWithValue(java.util.Optional.empty());
    }

    @Test
    void refusesATokenThatIsNotGreaterThanAllSeen_andGivesTheLockBack() {
        ConsulLease lease = consul.win("job", "s1", 100);
        CompletableFuture<Void> unused = consul.machine.release(lease);
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(101));
        // Consul is rebuilt: its indexes start low again.
        consul.pass(Duration.ofSeconds(4));
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s2"));
        consul.readSays(KeyState.absent(KEY, 1));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(12));

        assertThatThrownBy(ticket.result::join).cause().isInstanceOfSatisfying(TokenRegressionException.class, e -> {
            assertThat(e.granted().value()).isEqualTo(12);
            assertThat(e.seen().value()).isEqualTo(101);
        });
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(12);
    }

    @Test
    void fails_whenConsulHasNeverAnswered_andWaits_whenItHas() {
        Ticket first = consul.contend("job");
        consul.answer(CreateSession.class, failed());
        assertThatThrownBy(first.result::join).hasCauseInstanceOf(ElectionException.class);

        Ticket second = consul.contend("job");
        consul.readSays(KeyState.absent(KEY, 1));
        consul.pass(Duration.ofSeconds(1));
        consul.answer(CreateSession.class, failed());
        assertThat(second.result).isNotDone();
        consul.pass(Duration.ofSeconds(1));
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        assertThat(leaseOf(second).isHeld()).isTrue();
    }

    @Test
    void asksOnlyOnceForASession_whenManyContend() {
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            tickets.add(consul.contend("job" + i));
        }
        assertThat(consul.sent(CreateSession.class)).hasSize(1);
        assertThat(tickets).noneMatch(ticket -> ticket.result.isDone());
    }

    @Test
    void unlocksEverything_beforeItDestroysTheSession() {
        ConsulLease first = consul.win("job", "s1", 7);
        ConsulLease second = consul.win("other", "s1", 8);
        CompletableFuture<Void> unlocked = consul.machine.shutDown();
        assertThat(first.lossReason()).contains(LossReason.SHUTDOWN);
        assertThat(second.lossReason()).contains(LossReason.SHUTDOWN);
        assertThat(unlocked).isNotDone();
        assertThat(consul.isOpen(DestroySession.class)).isFalse();

        assertThat(consul.answer(UnlockAll.class, new ConsulAnswer.Done()).guards())
                .hasSize(2);
        assertThat(unlocked).isCompleted();
        CompletableFuture<Void> destroyed = consul.machine.destroySessions();
        consul.answer(DestroySession.class, new ConsulAnswer.Done());
        assertThat(destroyed).isCompleted();
        assertThatThrownBy(() -> consul.contend("job")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void unlocksOneByOne_whenUnlockingTogetherIsRefused() {
        consul.win("job", "s1", 7);
        consul.win("other", "s1", 8);
        CompletableFuture<Void> unlocked = consul.machine.shutDown();
        consul.answer(UnlockAll.class, refused(Refusal.GUARD));
        consul.readSays(KeyState.heldBy("s1", consul.open(Read.class).key(), 9));
        consul.readSays(KeyState.unlocked(consul.open(Read.class).key(), 10));
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(11));
        assertThat(unlocked).isCompleted();
    }

    /** Contends for a key that is not there, up to the point where the lock request is under way. */
    private Ticket free() {
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.absent(KEY, 1));
        return ticket;
    }
}
