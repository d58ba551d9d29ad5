package io.ringfence.election.consul;

import static io.ringfence.election.consul.HandDrivenConsul.failed;
import static io.ringfence.election.consul.HandDrivenConsul.leaseOf;
import static io.ringfence.election.consul.HandDrivenConsul.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.LossReason;
import io.ringfence.election.consul.ConsulAnswer.Refusal;
import io.ringfence.election.consul.ConsulRequest.CreateSession;
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

/** A lost lease whose key stays locked until it is released, because its work still runs. */
class RetainedLeaseTest {
    private static final String KEY = HandDrivenConsul.PREFIX + "job";

    private final HandDrivenConsul consul = new HandDrivenConsul();
    private final ConsulLease lease = consul.win("job", "s1", 7);
    private final List<LossReason> told = new ArrayList<>();

    RetainedLeaseTest() {
        lease.retain(told::add);
    }

    @Test
    void isLostButLocked_betweenEndAndRelease() {
        lease.end(LossReason.SHUTDOWN);
        assertThat(told).containsExactly(LossReason.SHUTDOWN);
        assertThat(lease.lossReason()).contains(LossReason.SHUTDOWN);
        assertThat(consul.isOpen(Unlock.class)).isFalse();

        CompletableFuture<Void> released = consul.machine.release(lease);
        assertThat(released).isNotDone();
        assertThat(consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(8))
                        .guard()
                        .index())
                .isEqualTo(7);
        assertThat(released).isCompleted();
        consul.runCallbacks();
        assertThat(consul.heard).containsExactly("acquired 7", "lost 7 SHUTDOWN");
        assertThat(told).hasSize(1);
    }

    @Test
    void theReleaseIsDone_whenTheKeyIsFreeAlready_andTheNextCallLocksItAtOnce() {
        consul.watchSays(6, KeyState.unlocked(KEY, 6)); // an old list, so the key is read
        consul.freeze(HandDrivenConsul.TERM);
        assertThat(lease.isHeld()).isFalse();
        Ticket other = consul.contend("other");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s2"));
        consul.machine.cancel(other);
        consul.readSays(KeyState.unlocked(KEY, 9));
        Ticket next = consul.contend("job");

        CompletableFuture<Void> released = consul.machine.release(lease);
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(10));
        assertThat(leaseOf(next).isHeld()).isTrue();
        assertThat(released).isCompleted();
    }

    @Test
    void theSessionLivesOn_whileTheWorkWindsDown() {
        lease.end(LossReason.RELEASED);
        consul.pass(Duration.ofSeconds(4));
        consul.renewed();
        consul.pass(Duration.ofSeconds(4));
        assertThat(consul.isOpen(RenewSession.class)).isTrue();
        assertThat(consul.isOpen(Unlock.class)).isFalse();
    }

    @Test
    void unlocksWithTheNewIndex_whenTheKeyMovedMeanwhile() {
        lease.end(LossReason.RELEASED);
        consul.watchSays(12, KeyState.heldBy("s1", KEY, 12));
        assertThat(consul.isOpen(Read.class)).isFalse();
        lease.release();
        consul.readSays(KeyState.heldBy("s1", KEY, 12));
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(12);
    }

    @Test
    void settlesTheUnlock_whenTheKeyWasLostMeanwhile() {
        lease.end(LossReason.RELEASED);
        CompletableFuture<Void> released = consul.machine.release(lease);
        consul.answer(Unlock.class, refused(Refusal.GUARD));
        consul.readSays(KeyState.absent(KEY, 20));
        assertThat(released).isCompleted();
    }

    @Test
    void hasNothingToUnlock_whenTheSessionDiedMeanwhile() {
        lease.end(LossReason.RELEASED);
        consul.pass(Duration.ofSeconds(4));
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());
        assertThat(consul.machine.release(lease)).isCompleted();
        assertThat(consul.sent(Unlock.class)).isEmpty();
        assertThat(told).containsExactly(LossReason.RELEASED);
    }

    @Test
    void keepsTheKey_whenNothingConfirmedIt_untilTheWorkHasEnded() {
        Duration unconfirmed = consul.machine.settings.unconfirmedLimit();
        consul.answer(Watch.class, failed());
        Duration passed = Duration.ZERO;
        while (passed.compareTo(unconfirmed) <= 0) {
            consul.pass(Duration.ofSeconds(1));
            passed = passed.plusSeconds(1);
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
            if (consul.isOpen(Read.class)) {
                consul.answer(Read.class, failed());
            }
        }
        assertThat(told).containsExactly(LossReason.DEADLINE_EXCEEDED);
        consul.pass(Duration.ofSeconds(2));
        assertThat(consul.isOpen(Read.class)).isFalse();
        assertThat(consul.isOpen(Unlock.class)).isFalse();

        CompletableFuture<Void> released = consul.machine.release(lease);
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(8));
        assertThat(released).isCompleted();
    }

    @Test
    void aNewCallWaits_untilTheWorkHasEnded() {
        lease.end(LossReason.RELEASED);
        Ticket once = consul.machine.contend("job", Ticket.Mode.ONCE);
        assertThat(once.result.join()).isEmpty();
        Ticket waiting = consul.contend("job");
        assertThat(waiting.result).isNotDone();
        assertThat(consul.isOpen(Lock.class)).isFalse();

        lease.release();
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(8));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(9));
        assertThat(leaseOf(waiting).fencingToken().value()).isEqualTo(9);
    }

    @Test
    void aShutdownUnlocksIt() {
        lease.end(LossReason.SHUTDOWN);
        CompletableFuture<Void> unlocked = consul.machine.shutDown();
        assertThat(consul.answer(UnlockAll.class, new ConsulAnswer.Done()).guards())
                .hasSize(1);
        assertThat(unlocked).isCompleted();
        assertThat(consul.machine.release(lease)).isCompleted();
    }

    @Test
    void tellsAtOnce_whenItWasLostBeforeItWasRetained() {
        ConsulLease other = consul.win("other", "s1", 9);
        CompletableFuture<Void> unused = consul.machine.release(other);
        other.retain(told::add);
        assertThat(told).containsExactly(LossReason.RELEASED);
    }
}
