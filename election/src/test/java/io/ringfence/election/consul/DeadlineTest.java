package io.ringfence.election.consul;

import static io.ringfence.election.consul.HandDrivenConsul.TERM;
import static io.ringfence.election.consul.HandDrivenConsul.leaseOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.election.consul.ConsulRequest.CreateSession;
import io.ringfence.election.consul.ConsulRequest.DestroySession;
import io.ringfence.election.consul.ConsulRequest.Lock;
import io.ringfence.election.consul.ConsulRequest.Read;
import io.ringfence.election.consul.ConsulRequest.RenewSession;
import io.ringfence.election.consul.ConsulRequest.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DeadlineTest {
    private static final String KEY = HandDrivenConsul.PREFIX + "job";
    private static final Duration MILLI = Duration.ofMillis(1);

    private final HandDrivenConsul consul = new HandDrivenConsul();

    @Test
    void countsFromSendingTheCreateRequest_notFromItsAnswer() {
        Ticket ticket = consul.contend("job");
        consul.pass(Duration.ofSeconds(2));
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.absent(KEY, 1));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        ConsulLease lease = leaseOf(ticket);

        consul.freeze(TERM.minusSeconds(2).minus(MILLI));
        assertThat(lease.isHeld()).isTrue();
        consul.freeze(MILLI);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void countsFromSendingTheRenewal_notFromItsAnswer() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.pass(Duration.ofMillis(3_334));
        Moment sentBy = consul.machine.now();
        consul.pass(Duration.ofSeconds(2));
        consul.renewed();

        assertThat(lease.remaining()).isGreaterThan(TERM.minusSeconds(3));
        assertThat(lease.remaining().toNanos())
                .isLessThanOrEqualTo(sentBy.plus(TERM).nanosFrom(consul.machine.now()));
    }

    @Test
    void renewsAtAThirdOfTheTtl_neverLater() {
        ConsulLease lease = consul.win("job", "s1", 7);
        int renewals = 0;
        for (int tenth = 0; tenth < 600; tenth++) {
            consul.pass(Duration.ofMillis(100));
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
                renewals++;
            }
            if (consul.isOpen(Watch.class)) {
                consul.watchSays(7, KeyState.heldBy("s1", KEY, 7));
            }
            assertThat(lease.remaining())
                    .isGreaterThan(TERM.minus(HandDrivenConsul.TTL.dividedBy(3)).minusMillis(110));
        }
        assertThat(renewals).isBetween(18, 22);
    }

    @Test
    void isFinal_whenTheRenewalIsAnsweredTooLate() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.pass(Duration.ofSeconds(4));
        consul.freeze(Duration.ofSeconds(4));
        consul.renewed();

        assertThat(lease.isHeld()).isFalse();
        consul.pass(Duration.ofSeconds(1));
        assertThat(lease.isHeld()).isFalse();
        assertThat(consul.open(DestroySession.class).session()).isEqualTo("s1");
        assertThatThrownBy(lease::requireToken)
                .isInstanceOfSatisfying(LeaseLostException.class, lost -> {
                    assertThat(lost.token().value()).isEqualTo(7);
                    assertThat(lost.reason()).isEqualTo(LossReason.DEADLINE_EXCEEDED);
                })
                .hasMessageContaining("job");
    }

    @Test
    void isSeenByTheFirstCallAfterWaking_beforeAnythingElseRan() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.freeze(Duration.ofHours(1));
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void passes_whenOnlyTheWallClockMoved() {
        // A suspended machine: the monotonic clock stood still.
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.stepWallClock(TERM.plus(MILLI));
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void isNotPutOff_byAWallClockThatIsSetBack() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.stepWallClock(Duration.ofHours(-1));
        assertThat(lease.isHeld()).isTrue();
        consul.freeze(TERM);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void neverRevivesTheGeneration_whoseLateAnswersCreateNoLease() {
        ConsulLease lease = consul.win("job", "s1", 7);
        Ticket other = consul.contend("other");
        consul.readSays(KeyState.absent(HandDrivenConsul.PREFIX + "other", 1));
        Lock late = consul.open(Lock.class);
        consul.pass(TERM);
        assertThat(lease.isHeld()).isFalse();

        consul.answer(late, new ConsulAnswer.KeyChanged(9));
        assertThat(other.result).isNotDone();
        assertThat(consul.open(CreateSession.class).generation()).isEqualTo(2);
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s2"));
        consul.readSays(new KeyState(HandDrivenConsul.PREFIX + "other", true, 9, "s1", null));
        assertThat(other.result).isNotDone();
        assertThat(consul.isOpen(Read.class)).isFalse();
    }

    @Test
    void endsEveryLeaseOfTheSession_andTellsEachOnce() {
        ConsulLease first = consul.win("job", "s1", 7);
        ConsulLease second = consul.win("other", "s1", 8);
        List<LossReason> told = new ArrayList<>();
        first.lost().thenAccept(told::add);
        second.lost().thenAccept(told::add);

        consul.pass(TERM);
        assertThat(first.isHeld()).isFalse();
        assertThat(second.isHeld()).isFalse();
        assertThat(told).as("no callback runs in the caller of isHeld").isEmpty();
        consul.runCallbacks();
        consul.pass(TERM);
        consul.runCallbacks();
        assertThat(told).containsExactly(LossReason.DEADLINE_EXCEEDED, LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void grantsNothing_thatHasLessThanHalfATermLeft() {
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        consul.readSays(KeyState.absent(KEY, 1));
        consul.pass(Duration.ofMillis(4_500));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        assertThat(ticket.result).isNotDone();

        consul.answer(RenewSession.class, HandDrivenConsul.failed());
        consul.pass(Duration.ofMillis(200));
        consul.renewed();
        assertThat(leaseOf(ticket).remaining()).isGreaterThan(TERM.dividedBy(2));
    }

    @Test
    void goesOn_whenSomeRenewalsFail() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.pass(Duration.ofMillis(3_334));
        consul.answer(RenewSession.class, HandDrivenConsul.failed());
        consul.pass(Duration.ofMillis(200));
        consul.renewed();
        consul.pass(Duration.ofSeconds(6));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void saysAccessDenied_whenTheLastRenewalsWereDenied() {
        ConsulLease lease = consul.win("job", "s1", 7);
        for (int i = 0; i < 80; i++) {
            consul.pass(Duration.ofMillis(100));
            if (consul.isOpen(RenewSession.class)) {
                consul.answer(RenewSession.class, new ConsulAnswer.Denied("no"));
                assertThat(lease.isHeld()).isTrue();
            }
        }
        assertThat(lease.lossReason()).contains(LossReason.ACCESS_DENIED);
    }

    @Test
    void endsAtOnce_whenConsulSaysTheSessionIsGone() {
        ConsulLease lease = consul.win("job", "s1", 7);
        consul.pass(Duration.ofMillis(3_334));
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
    }

    @Test
    void destroysTheDeadSession_althoughThatWasDeniedAtFirst() {
        consul.win("job", "s1", 7);
        consul.pass(TERM);
        for (int denied = 0; denied < 3; denied++) {
            assertThat(consul.open(DestroySession.class).session()).isEqualTo("s1");
            consul.answer(DestroySession.class, new ConsulAnswer.Denied("no"));
            assertThat(consul.isOpen(DestroySession.class)).as("not at once").isFalse();
            consul.pass(Duration.ofSeconds(5));
        }
        consul.answer(DestroySession.class, new ConsulAnswer.Done());
        consul.pass(Duration.ofMinutes(1));
        assertThat(consul.sent(DestroySession.class)).hasSize(4);
    }

    @Test
    void closingDoesNotWait_whenAccessIsDenied() {
        consul.win("job", "s1", 7);
        CompletableFuture<Void> destroyed = consul.machine.destroySessions();
        consul.answer(DestroySession.class, new ConsulAnswer.Denied("no"));
        assertThat(destroyed).isCompleted();
    }
}
