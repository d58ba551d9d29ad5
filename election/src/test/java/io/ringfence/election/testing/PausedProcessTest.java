package io.ringfence.election.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.ElectionException;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is frozen, on a clock that the test moves. */
@Timeout(30)
class PausedProcessTest {
    private static final String INVOICES = "invoices";
    private static final Duration TERM = Duration.ofSeconds(8);
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration LOCK_DELAY = Duration.ofSeconds(15);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private final InMemoryLockService locks = new InMemoryLockService();
    private final InMemoryElections a = locks.elections("a", new Recorder("", heard));
    private final InMemoryElections b = locks.elections("b");

    private static Lease lead(InMemoryElections elections) {
        return elections.election(INVOICES).tryAcquire().orElseThrow();
    }

    private static boolean cannotLead(InMemoryElections elections) {
        return elections.election(INVOICES).tryAcquire().isEmpty();
    }

    @Test
    void aPausedHolderReadsAsHeldUntilItsDeadline_andNeverAgain() {
        Lease lease = lead(a);
        a.pause();
        locks.advance(TERM.minus(INSTANT));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isEqualTo(INSTANT);
        assertThat(lease.confirm()).isEqualTo(Confirmation.UNKNOWN);
        locks.advance(INSTANT);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);

        assertThat(heard).as("a frozen process runs no callbacks").containsExactly("acquired 1");
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
        a.resume();
        assertThat(heard).containsExactly("acquired 1", "lost 1 DEADLINE_EXCEEDED");
        assertThat(lease.lost().toCompletableFuture()).isCompletedWithValue(LossReason.DEADLINE_EXCEEDED);
        locks.advance(Duration.ofHours(1));
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void aPauseThatEndsBeforeTheDeadlineCostsNothing() {
        Lease lease = lead(a);
        a.pause();
        a.pause();
        locks.advance(TERM.minus(INSTANT));
        a.resume();
        locks.advance(Duration.ofHours(1));
        assertThat(lease.isHeld()).isTrue();
        assertThat(heard).containsExactly("acquired 1");
    }

    @Test
    void anotherProcessLeads_whenTheTtlAndTheLockDelayOfAPausedOneHavePassed() throws Exception {
        Lease stale = lead(a);
        a.pause();
        Call<Lease> waiting = Call.start(() -> b.election(INVOICES).acquire());
        waiting.awaitBlocked();
        locks.advance(TTL.plus(LOCK_DELAY).minus(INSTANT));
        assertThat(b.election(INVOICES).leader())
                .as("the key is in its lock delay")
                .isEmpty();
        assertThat(waiting.result()).isNotDone();
        locks.advance(INSTANT);
        Lease next = waiting.get();
        assertThat(next.requireToken()).isGreaterThan(stale.fencingToken());
        assertThat(b.election(INVOICES).leader()).contains("b");

        a.resume();
        assertThat(stale.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        assertThat(cannotLead(a)).isTrue();
        next.close();
        assertThat(lead(a).requireToken()).isGreaterThan(next.fencingToken());
    }

    @Test
    void aPausedHolderDoesNotKnowThatItsSessionIsGone_untilItGoesOn() {
        Lease stale = lead(a);
        a.pause();
        a.expireSession();
        assertThat(cannotLead(b)).isTrue();
        assertThat(stale.isHeld()).isTrue();
        a.resume();
        assertThat(stale.lossReason()).contains(LossReason.SESSION_EXPIRED);
        assertThat(heard).containsExactly("acquired 1", "lost 1 SESSION_EXPIRED");
        locks.advance(LOCK_DELAY);
        assertThat(lead(b).isHeld()).isTrue();
    }

    @Test
    void twoLeasesMayOverlap_whenAKeyIsTakenFromAPausedHolder() {
        Lease stale = lead(a);
        a.pause();
        a.lose(INVOICES, LossReason.LOCK_RELEASED);
        Lease next = lead(b);
        assertThat(stale.isHeld()).isTrue();
        assertThat(next.isHeld()).isTrue();
        a.resume();
        assertThat(stale.lossReason()).contains(LossReason.LOCK_RELEASED);
        assertThat(next.isHeld()).isTrue();
    }

    @Test
    void aPausedProcessWinsNothing_andItsWaitingCallGoesOnAfterIt() throws Exception {
        Lease lease = lead(b);
        Call<Lease> waiting = Call.start(() -> a.election(INVOICES).acquire());
        waiting.awaitBlocked();
        a.pause();
        lease.close();
        assertThat(waiting.result()).isNotDone();
        assertThatExceptionOfType(ElectionException.class)
                .isThrownBy(() -> a.election(INVOICES).tryAcquire())
                .withMessageContaining("'a'");
        a.resume();
        assertThat(waiting.get().isHeld()).isTrue();
    }

    @Test
    void whoClosesALeaseWhilePausedHearsOfIt_butTheKeyIsFreeOnlyAfterTheResume() {
        Lease lease = lead(a);
        a.pause();
        lease.close();
        assertThat(lease.lossReason()).contains(LossReason.RELEASED);
        locks.advance(Duration.ZERO);
        assertThat(heard).containsExactly("acquired 1", "lost 1 RELEASED");
        assertThat(cannotLead(b)).isTrue();
        a.resume();
        assertThat(lead(b).isHeld()).isTrue();
    }

    @Test
    void aProcessClosedWhilePausedLeavesItsKeyToExpire() {
        lead(a);
        a.pause();
        a.close();
        locks.advance(TTL.plus(LOCK_DELAY).minus(INSTANT));
        assertThat(cannotLead(b)).isTrue();
        locks.advance(INSTANT);
        assertThat(lead(b).isHeld()).isTrue();
        assertThat(heard).containsExactly("acquired 1", "lost 1 SHUTDOWN");
    }

    @Test
    void aLoopOfAPausedProcessIsInterruptedAfterTheResume_andTheOtherLeadsMeanwhile() {
        CountDownLatch neverEnds = new CountDownLatch(1);
        LeaderLoop.Work work = lease -> {
            heard.add(lease.holder() + " works");
            try {
                neverEnds.await();
            } finally {
                heard.add(lease.holder() + " ended " + lease.lossReason().orElseThrow());
            }
        };
        LeaderLoop.Options quick = LeaderLoop.Options.defaults().backoff(Duration.ofMillis(1), Duration.ofMillis(10));
        a.election(INVOICES).lead(work, quick);
        await().until(() -> heard.contains("a works"));
        b.election(INVOICES).lead(work, quick);
        a.pause();
        await().until(() -> {
            locks.advance(Duration.ofSeconds(1));
            return heard.contains("b works");
        });
        assertThat(heard).doesNotContain("a ended DEADLINE_EXCEEDED");
        a.resume();
        await().until(() -> heard.contains("a ended DEADLINE_EXCEEDED"));
        b.close();
        assertThat(heard).contains("b ended SHUTDOWN");
        await().until(() -> heard.stream().filter("a works"::equals).count() == 2);
        a.close();
    }

    @Test
    void aLoopIsToldOfALossOnce_whenItHappenedInAPauseRightAfterTheGrant() throws Exception {
        InMemoryLease lease = ((InMemoryElection) a.election(INVOICES)).acquire();
        a.pause();
        locks.advance(TERM);
        lease.retain(reason -> heard.add("retainer told " + reason));
        assertThat(heard).containsExactly("acquired 1");
        a.resume();
        assertThat(heard)
                .containsExactlyInAnyOrder("acquired 1", "lost 1 DEADLINE_EXCEEDED", "retainer told DEADLINE_EXCEEDED");
    }
}
