package io.ringfence.election.consul;

import static io.ringfence.election.consul.HandDrivenConsul.failed;
import static io.ringfence.election.consul.HandDrivenConsul.leaseOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.LossReason;
import io.ringfence.election.consul.ConsulRequest.CreateSession;
import io.ringfence.election.consul.ConsulRequest.Deregister;
import io.ringfence.election.consul.ConsulRequest.DestroySession;
import io.ringfence.election.consul.ConsulRequest.Heartbeat;
import io.ringfence.election.consul.ConsulRequest.Lock;
import io.ringfence.election.consul.ConsulRequest.RenewSession;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failure detection with a period of one second, so a lease counts for 800 ms after a heartbeat was sent. */
class HeartbeatTest {
    private static final String KEY = HandDrivenConsul.PREFIX + "job";
    private static final Duration TERM = Duration.ofMillis(800);
    private static final Duration MILLI = Duration.ofMillis(1);

    private final HandDrivenConsul consul =
            new HandDrivenConsul(new FailureDetection(Duration.ofSeconds(1), "ringfence"));

    private final ConsulLease lease = consul.win("job", "s1", 7);

    @BeforeEach
    void answerTheFirstHeartbeat() {
        long unused = consul.machine.tick();
        consul.answer(Heartbeat.class, new ConsulAnswer.Done());
    }

    @Test
    void bindsTheSessionToACheckOfItsOwn() {
        CreateSession first = consul.sent(CreateSession.class).get(0);
        assertThat(first.check()).startsWith("ringfence-");
        consul.pass(TERM);
        assertThat(lease.isHeld()).isFalse();
        Ticket unused = consul.contend("job");
        CreateSession second = consul.open(CreateSession.class);
        assertThat(second.check()).isNotNull().isNotEqualTo(first.check());
    }

    @Test
    void beatsAtOnce_whenTheCheckIsNew() {
        HandDrivenConsul fresh = new HandDrivenConsul(new FailureDetection(Duration.ofSeconds(1), "ringfence"));
        for (int generation = 1; generation <= 2; generation++) {
            Ticket unused = fresh.contend("job-" + generation);
            assertThat(fresh.machine.tick()).as("the timer falls asleep").isPositive();
            fresh.forgetSent();
            CreateSession create = fresh.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s" + generation));
            assertThat(fresh.wakes()).as("the timer is woken").isPositive();
            long asleep = fresh.machine.tick();
            assertThat(asleep).isPositive();
            assertThat(fresh.sent(Heartbeat.class)).extracting(Heartbeat::check).containsExactly(create.check());
            fresh.pass(TERM); // unanswered, so this session is given up
        }
    }

    @Test
    void beatsEveryFifthOfThePeriod_oneAtATime() {
        int beats = 0;
        for (int step = 0; step < 1_000; step++) {
            consul.pass(Duration.ofMillis(10));
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
            if (consul.isOpen(Heartbeat.class)) {
                consul.answer(Heartbeat.class, new ConsulAnswer.Done());
                beats++;
            }
            assertThat(lease.remaining()).isGreaterThan(TERM.minus(Duration.ofMillis(211)));
        }
        assertThat(beats).isBetween(45, 51);
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void countsFromSendingTheRegistration_notFromItsAnswer() {
        HandDrivenConsul slow = new HandDrivenConsul(new FailureDetection(Duration.ofSeconds(1), "ringfence"));
        Ticket ticket = slow.contend("job");
        slow.pass(Duration.ofMillis(300));
        slow.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s1"));
        slow.readSays(KeyState.absent(KEY, 1));
        slow.answer(Lock.class, new ConsulAnswer.KeyChanged(7));
        ConsulLease late = leaseOf(ticket);
        slow.freeze(Duration.ofMillis(499));
        assertThat(late.isHeld()).isTrue();
        slow.freeze(MILLI);
        assertThat(late.isHeld()).isFalse();
    }

    @Test
    void countsFromSendingTheHeartbeat_notFromItsAnswer() {
        consul.pass(Duration.ofMillis(200));
        assertThat(consul.isOpen(Heartbeat.class)).isTrue();
        consul.pass(Duration.ofMillis(300));
        consul.answer(Heartbeat.class, new ConsulAnswer.Done());
        consul.freeze(Duration.ofMillis(499));
        assertThat(lease.isHeld()).isTrue();
        consul.freeze(MILLI);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void isLost_whenHeartbeatsFailAndRenewalsPass() {
        for (int step = 0; step < 8; step++) {
            consul.pass(Duration.ofMillis(100).minus(MILLI));
            if (consul.isOpen(Heartbeat.class)) {
                consul.answer(Heartbeat.class, failed());
            }
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
        }
        assertThat(lease.isHeld()).isTrue();
        consul.pass(Duration.ofMillis(8));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void isLostByTheDeadlineOfTheTtl_whenRenewalsFailAndHeartbeatsPass() {
        Moment start = consul.machine.now();
        while (lease.isHeld()) {
            consul.pass(Duration.ofMillis(50));
            if (consul.isOpen(Heartbeat.class)) {
                consul.answer(Heartbeat.class, new ConsulAnswer.Done());
            }
            if (consul.isOpen(RenewSession.class)) {
                consul.answer(RenewSession.class, failed());
            }
        }
        assertThat(Duration.ofNanos(-start.nanosFrom(consul.machine.now())))
                .isBetween(HandDrivenConsul.TERM, HandDrivenConsul.TERM.plusMillis(60));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void isLost_whenTheSessionIsGoneAndHeartbeatsPass() {
        consul.pass(Duration.ofMillis(200));
        consul.answer(Heartbeat.class, new ConsulAnswer.Done());
        consul.watchSays(8, KeyState.unlocked(KEY, 8));
        consul.readSays(KeyState.unlocked(KEY, 8));
        consul.pass(MILLI);
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
        assertThat(consul.isOpen(DestroySession.class)).isFalse();
        assertThat(consul.isOpen(Deregister.class)).isTrue();
    }

    @Test
    void asksForTheSessionAtOnce_whenAHeartbeatFails() {
        consul.pass(Duration.ofMillis(200));
        assertThat(consul.isOpen(RenewSession.class)).isFalse();
        consul.answer(Heartbeat.class, failed());
        consul.pass(MILLI);
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());
        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
    }

    @Test
    void isFinal_whenAHeartbeatIsAnsweredTooLate() {
        consul.pass(Duration.ofMillis(200));
        Heartbeat late = consul.open(Heartbeat.class);
        consul.freeze(Duration.ofMillis(600));
        consul.answer(late, new ConsulAnswer.Done());
        assertThat(lease.isHeld()).isFalse();
        consul.pass(Duration.ofSeconds(1));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void anAnswerForAFormerGeneration_extendsNothing() {
        consul.pass(Duration.ofMillis(200));
        Heartbeat former = consul.open(Heartbeat.class);
        consul.pass(TERM);
        Ticket ticket = consul.contend("job");
        consul.answer(CreateSession.class, new ConsulAnswer.SessionCreated("s2"));
        consul.readSays(KeyState.unlocked(KEY, 9));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(10));
        ConsulLease next = leaseOf(ticket);
        consul.freeze(Duration.ofMillis(700));
        consul.answer(former, new ConsulAnswer.Done());
        assertThat(next.remaining()).isLessThanOrEqualTo(Duration.ofMillis(100));
    }

    @Test
    void grantsOnlyAfterAHeartbeat_whenLessThanHalfOfItsTermIsLeft() {
        Ticket ticket = consul.contend("other");
        consul.readSays(KeyState.absent(HandDrivenConsul.PREFIX + "other", 7));
        consul.pass(Duration.ofMillis(401));
        Heartbeat slow = consul.open(Heartbeat.class);
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(8));
        assertThat(ticket.result).isNotDone();
        consul.answer(slow, new ConsulAnswer.Done());
        assertThat(leaseOf(ticket).remaining()).isGreaterThanOrEqualTo(TERM.dividedBy(2));
    }

    @Test
    void isLostForLackOfAccess_whenHeartbeatsAreDeniedUntilTheDeadline() {
        while (lease.isHeld()) {
            consul.pass(Duration.ofMillis(50));
            if (consul.isOpen(Heartbeat.class)) {
                consul.answer(Heartbeat.class, new ConsulAnswer.Denied("denied"));
            }
            if (consul.isOpen(RenewSession.class)) {
                consul.renewed();
            }
        }
        assertThat(lease.lossReason()).contains(LossReason.ACCESS_DENIED);
    }

    @Test
    void aPauseLongerThanTheTerm_losesEveryLeaseForGood() {
        Ticket ticket = consul.contend("other");
        consul.readSays(KeyState.absent(HandDrivenConsul.PREFIX + "other", 7));
        consul.answer(Lock.class, new ConsulAnswer.KeyChanged(8));
        ConsulLease other = leaseOf(ticket);
        consul.freeze(TERM);
        assertThat(lease.isHeld()).isFalse();
        assertThat(other.isHeld()).isFalse();
        consul.pass(Duration.ofSeconds(1));
        assertThat(lease.isHeld()).isFalse();
        assertThat(other.isHeld()).isFalse();
    }

    @Test
    void removesTheCheckOnlyAfterTheSession() {
        consul.pass(TERM);
        DestroySession destroy = consul.open(DestroySession.class);
        consul.answer(destroy, failed());
        assertThat(consul.sent(Deregister.class)).isEmpty();
        consul.pass(Duration.ofSeconds(1));
        consul.answer(DestroySession.class, new ConsulAnswer.Done());
        assertThat(consul.open(Deregister.class).check()).isEqualTo(destroy.check());
        consul.answer(Deregister.class, failed());
        consul.pass(Duration.ofSeconds(30));
        assertThat(consul.sent(Deregister.class))
                .as("the agent does it by itself")
                .hasSize(1);
    }

    @Test
    void removesTheCheckOnce_whenTheSessionMayNotBeDestroyed() {
        consul.pass(TERM);
        consul.answer(DestroySession.class, new ConsulAnswer.Denied("no"));
        consul.answer(Deregister.class, new ConsulAnswer.Done());
        consul.pass(Duration.ofSeconds(5));
        consul.answer(DestroySession.class, new ConsulAnswer.Done());
        assertThat(consul.sent(Deregister.class)).hasSize(1);
    }

    @Test
    void closing_waitsUntilTheCheckIsRemoved() {
        CompletableFuture<Void> unlocked = consul.machine.shutDown();
        consul.answer(ConsulRequest.UnlockAll.class, new ConsulAnswer.Done());
        assertThat(unlocked).isCompleted();
        CompletableFuture<Void> destroyed = consul.machine.destroySessions();
        consul.answer(DestroySession.class, new ConsulAnswer.Done());
        assertThat(destroyed).isNotDone();
        consul.answer(Deregister.class, new ConsulAnswer.Done());
        assertThat(destroyed).isCompleted();
    }
}
