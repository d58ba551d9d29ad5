package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.LossReason;
import io.ringfence.election.consul.ConsulRequest.Read;
import io.ringfence.election.consul.ConsulRequest.RenewSession;
import io.ringfence.election.consul.ConsulRequest.Unlock;
import io.ringfence.election.consul.ConsulRequest.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WatchTest {
    private static final String KEY = HandDrivenConsul.PREFIX + "job";
    private static final String OTHER = HandDrivenConsul.PREFIX + "other";

    private final HandDrivenConsul consul = new HandDrivenConsul();

    static Stream<Arguments> lostKeys() {
        return Stream.of(
                Arguments.of(KeyState.absent(KEY, 20), LossReason.LOCK_DELETED),
                Arguments.of(KeyState.unlocked(KEY, 20), LossReason.LOCK_RELEASED),
                Arguments.of(KeyState.heldBy("foreign", KEY, 20), LossReason.LOCK_TAKEN));
    }

    @ParameterizedTest
    @MethodSource("lostKeys")
    void endsOnlyTheLeaseOfAKeyThatIsNotOurs_afterAReadAndARenewal(KeyState state, LossReason reason) {
        ConsulLease lease = consul.win("job", "s1", 7);
        ConsulLease other = consul.win("other", "s1", 8);
        say(20, listed(state));
        assertThat(lease.isHeld()).as("the watch wakes, it does not judge").isTrue();
        consul.readSays(state);
        assertThat(lease.isHeld()).as("the session may be gone instead").isTrue();
        consul.pass(Duration.ofMillis(1));
        consul.renewed();

        assertThat(lease.lossReason()).contains(reason);
        assertThat(other.isHeld()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("lostKeys")
    void endsEveryLease_whenTheRenewalSaysThatTheSessionIsGone(KeyState state, LossReason unused) {
        ConsulLease lease = consul.win("job", "s1", 7);
        ConsulLease other = consul.win("other", "s1", 8);
        say(20, listed(state));
        consul.readSays(state);
        consul.pass(Duration.ofMillis(1));
        consul.answer(RenewSession.class, new ConsulAnswer.SessionGone());

        assertThat(lease.lossReason()).contains(LossReason.SESSION_EXPIRED);
        assertThat(other.lossReason()).contains(LossReason.SESSION_EXPIRED);
    }

    @Test
    void doesNotEndALease_whenTheListIsOlderThanTheLock() {
        ConsulLease lease = consul.win("job", "s1", 7);
        say(6, KeyState.absent(KEY, 6));
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        assertThat(lease.isHeld()).isTrue();
        assertThat(consul.isOpen(RenewSession.class)).isFalse();
    }

    @Test
    void endsALeaseSoon_whenIndexesWentBackAndSomebodyElseHoldsTheKey() {
        ConsulLease lease = consul.win("job", "s1", 70);
        say(80, KeyState.heldBy("foreign", KEY, 12)); // the list is newer, for another key was written since
        consul.readSays(KeyState.heldBy("foreign", KEY, 12));
        consul.pass(Duration.ofMillis(1));
        consul.renewed();
        assertThat(lease.lossReason()).contains(LossReason.LOCK_TAKEN);
    }

    @Test
    void doesNotEndALease_whenTheListHidesTheKey() {
        ConsulLease lease = consul.win("job", "s1", 7);
        say(20);
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void doesNotEndALease_whenTheReadIsDenied_orFails() {
        ConsulLease lease = consul.win("job", "s1", 7);
        say(20);
        consul.answer(Read.class, new ConsulAnswer.Denied("no"));
        consul.pass(Duration.ofMillis(100));
        consul.answer(Read.class, HandDrivenConsul.failed());
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void keepsTheTokenAndFollowsTheIndex_whenAForeignPutMovesTheKey() {
        ConsulLease lease = consul.win("job", "s1", 7);
        say(20, KeyState.heldBy("s1", KEY, 20));
        assertThat(lease.requireToken().value()).isEqualTo(7);
        assertThat(lease.guard().index()).isEqualTo(20);
    }

    @Test
    void readsHeldKeysOneByOne_whileTheWatchIsSilent_andLosesWhatNothingConfirms() {
        ConsulLease lease = consul.win("job", "s1", 7);
        Duration bound = consul.machine.settings.unconfirmedLimit();
        for (int i = 0; i < 14; i++) {
            passRenewing(Duration.ofSeconds(1));
        }
        assertThat(consul.sent(Read.class)).as("only the one before the lock").hasSize(1);
        for (int i = 14; i < bound.toSeconds() - 1; i++) {
            passRenewing(Duration.ofSeconds(1));
            if (consul.isOpen(Read.class)) {
                consul.answer(Read.class, HandDrivenConsul.failed());
            }
        }
        assertThat(lease.isHeld()).isTrue();
        assertThat(consul.sent(Read.class).size()).isGreaterThan(1);
        passRenewing(Duration.ofSeconds(2));
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void tellsTheLossOfALeaseThatNothingConfirms_atItsVeryMoment() {
        ConsulLease lease = consul.win("job", "s1", 7);
        Moment bound = consul.machine.now().plus(consul.machine.settings.unconfirmedLimit());
        List<Moment> told = new ArrayList<>();
        lease.lost().thenRun(() -> told.add(consul.machine.now()));
        Moment over = bound.plus(Duration.ofSeconds(2));
        while (told.isEmpty() && !over.isReachedAt(consul.machine.now())) {
            passRenewing(Duration.ofNanos(Math.max(1, consul.machine.tick()))); // asleep until it is due again
            consul.runCallbacks();
        }
        assertThat(told).containsExactly(bound);
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
    }

    @Test
    void isNoLoss_whenTheWatchFailsForMinutes_andReadsConfirm() {
        ConsulLease lease = consul.win("job", "s1", 7);
        for (int i = 0; i < 300; i++) {
            passRenewing(Duration.ofSeconds(1));
            if (consul.isOpen(Watch.class)) {
                consul.answer(Watch.class, HandDrivenConsul.failed());
            }
            if (consul.isOpen(Read.class)) {
                consul.readSays(KeyState.heldBy("s1", KEY, 7));
            }
        }
        assertThat(lease.isHeld()).isTrue();
        assertThat(consul.sent(Watch.class).size())
                .as("the failing watch does not spin")
                .isLessThan(320);
        assertThat(consul.sent(Read.class).size()).isBetween(50, 110);
    }

    @Test
    void startsOverAndReadsEverything_whenTheIndexWentBack() {
        ConsulLease lease = consul.win("job", "s1", 7);
        say(50, KeyState.heldBy("s1", KEY, 7));
        consul.pass(Duration.ofMillis(10));
        assertThat(consul.open(Watch.class).index()).isEqualTo(50);
        say(20, KeyState.heldBy("s1", KEY, 7));
        assertThat(consul.open(Read.class).key()).isEqualTo(KEY);
        consul.readSays(KeyState.heldBy("s1", KEY, 7));
        consul.pass(Duration.ofMillis(300));
        assertThat(consul.open(Watch.class).index()).isZero();
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void unlocksAKeyOfOursThatNobodyHas_whenItsIndexWentBack() {
        ConsulLease lease = consul.win("job", "s1", 70);
        lease.release();
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(71));
        say(80, KeyState.heldBy("s1", KEY, 12)); // Consul was restored, and another key was written since
        consul.readSays(KeyState.heldBy("s1", KEY, 12));
        assertThat(consul.open(Unlock.class).guard().index()).isEqualTo(12);
    }

    @Test
    void doesNotUnlock_whenTheListIsOlderThanTheUnlock() {
        ConsulLease lease = consul.win("job", "s1", 70);
        lease.release();
        consul.answer(Unlock.class, new ConsulAnswer.KeyChanged(71));
        say(70, KeyState.heldBy("s1", KEY, 70));
        consul.readSays(KeyState.unlocked(KEY, 71));
        assertThat(consul.isOpen(Unlock.class)).isFalse();
    }

    @Test
    void takesIndexZeroForOne() {
        consul.win("job", "s1", 7);
        say(0);
        consul.pass(Duration.ofMillis(300));
        assertThat(consul.open(Watch.class).index()).isEqualTo(1);
    }

    @Test
    void asksAtMostTwoHundredTimesASecond_whenKeysChangeAllTheTime() {
        consul.win("job", "s1", 7);
        consul.forgetSent();
        long index = 20;
        for (int i = 0; i < 1_000; i++) {
            if (consul.isOpen(Watch.class)) {
                say(++index, KeyState.heldBy("s1", KEY, 7), KeyState.heldBy("foreign", OTHER, index));
            }
            consul.pass(Duration.ofMillis(1));
        }
        assertThat(consul.sent(Watch.class).size()).isBetween(100, 201);
    }

    /** A list with the other key in it, still ours, and the state of this one. */
    private static KeyState[] listed(KeyState state) {
        KeyState other = KeyState.heldBy("s1", OTHER, 8);
        return state.exists() ? new KeyState[] {state, other} : new KeyState[] {other};
    }

    private void say(long index, KeyState... states) {
        consul.watchSays(index, states);
    }

    private void passRenewing(Duration duration) {
        consul.pass(duration);
        if (consul.isOpen(RenewSession.class)) {
            consul.renewed();
        }
    }
}
