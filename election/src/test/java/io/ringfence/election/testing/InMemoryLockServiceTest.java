package io.ringfence.election.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.election.Lease.Confirmation;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a test does to a lock service and its processes. Nothing in here waits, but for threads of its own. */
@Timeout(30)
class InMemoryLockServiceTest {
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

    // The clock.

    @Test
    void nothingExpires_howeverFarTheClockMoves_whileTheProcessIsWell() {
        Lease lease = lead(a);
        locks.advance(Duration.ofDays(365));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isEqualTo(TERM);
        assertThat(cannotLead(b)).isTrue();
    }

    @Test
    void theJavadocsExample_holdsTrue() {
        InMemoryLockService locks = new InMemoryLockService();
        InMemoryElections a = locks.elections("a");
        InMemoryElections b = locks.elections("b");
        Lease stale = a.election("invoices").tryAcquire().orElseThrow();

        a.pause();
        locks.advance(Duration.ofSeconds(25)); // the session's TTL, then the lock delay
        Lease next = b.election("invoices").tryAcquire().orElseThrow();
        a.resume();

        assertThat(stale.isHeld()).isFalse();
        assertThat(next.requireToken()).isGreaterThan(stale.fencingToken());
    }

    @Test
    void theJavadocsExample_isPartOfThisTest() throws IOException {
        Path sources = Path.of("src");
        String main =
                Files.readString(sources.resolve("main/java/io/ringfence/election/testing/InMemoryLockService.java"));
        String example = main.substring(main.indexOf("{@code\n") + 6, main.indexOf(" * }</pre>"))
                .replaceAll("(?m)^ \\* ?", "");
        String test = Files.readString(
                sources.resolve("test/java/io/ringfence/election/testing/InMemoryLockServiceTest.java"));
        assertThat(flattened(test)).contains(flattened(example));
    }

    private static String flattened(String text) {
        return Pattern.compile("\\s+").matcher(text).replaceAll(" ").strip();
    }

    @Test
    void refusesValuesOutOfRange() {
        assertThatIllegalArgumentException().isThrownBy(() -> new InMemoryLockService(Duration.ZERO, LOCK_DELAY));
        assertThatIllegalArgumentException().isThrownBy(() -> new InMemoryLockService(TTL, Duration.ofSeconds(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> locks.advance(Duration.ofSeconds(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> locks.nextToken(0));
    }

    // The lock service out of reach.

    @Test
    void aDisconnectedHolderLosesItsLeaseAtTheDeadline_andHearsOfItThen() {
        Lease lease = lead(a);
        a.disconnect();
        locks.advance(TERM.minus(INSTANT));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.confirm()).isEqualTo(Confirmation.UNKNOWN);
        locks.advance(INSTANT);
        assertThat(lease.lossReason()).contains(LossReason.DEADLINE_EXCEEDED);
        assertThat(heard).containsExactly("acquired 1", "lost 1 DEADLINE_EXCEEDED");
        assertThat(lease.confirm()).isEqualTo(Confirmation.LOST);

        assertThat(cannotLead(b)).as("the session lives on").isTrue();
        a.reconnect();
        assertThat(cannotLead(a))
                .as("its dead session was destroyed, so the lock delay runs")
                .isTrue();
        locks.advance(LOCK_DELAY);
        assertThat(lead(a).requireToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void aShortOutageCostsNothing() {
        Lease lease = lead(a);
        for (int i = 0; i < 5; i++) {
            a.disconnect();
            locks.advance(TERM.minus(INSTANT));
            a.reconnect();
        }
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.confirm()).isEqualTo(Confirmation.CONFIRMED);
    }

    @Test
    void callsSayThatTheLockServiceCannotBeReached_andThoseThatWaitGoOnAfterwards() throws Exception {
        Election election = a.election(INVOICES);
        a.disconnect();
        assertThatExceptionOfType(ElectionException.class)
                .as("nothing was ever reached")
                .isThrownBy(election::acquire);
        a.reconnect();
        assertThat(election.leader()).isEmpty();
        a.disconnect();
        assertThatExceptionOfType(ElectionException.class).isThrownBy(election::tryAcquire);
        assertThatExceptionOfType(ElectionException.class).isThrownBy(election::leader);
        Call<Optional<Lease>> timed = Call.start(() -> election.tryAcquire(Duration.ofSeconds(1)));
        timed.awaitBlocked();
        locks.advance(Duration.ofSeconds(1));
        assertThat(timed.result())
                .failsWithin(Duration.ofSeconds(5))
                .withThrowableThat()
                .withCauseInstanceOf(ElectionException.class);
        Call<Lease> waiting = Call.start(election::acquire);
        waiting.awaitBlocked();
        a.reconnect();
        assertThat(waiting.get().isHeld()).isTrue();
    }

    @Test
    void deniedAccessEndsLeasesAtTheDeadline_andWaitingCallsAtOnce() throws Exception {
        Lease lease = lead(a);
        Election other = a.election("other");
        b.election("other").acquire();
        Call<Lease> waiting = Call.start(other::acquire);
        waiting.awaitBlocked();
        a.denyAccess();
        assertThat(waiting.result())
                .failsWithin(Duration.ofSeconds(5))
                .withThrowableThat()
                .withMessageContaining("denies access");
        assertThatExceptionOfType(ElectionException.class).isThrownBy(other::acquire);
        locks.advance(TERM);
        assertThat(lease.lossReason()).contains(LossReason.ACCESS_DENIED);
        a.reconnect();
        locks.advance(LOCK_DELAY);
        assertThat(lead(a).isHeld()).isTrue();
    }

    // Losses.

    @ParameterizedTest
    @EnumSource(
            names = {"RELEASED", "SHUTDOWN"},
            mode = EnumSource.Mode.EXCLUDE)
    void aLeaseIsLostForAnyReason_andItsCallbacksHaveRunWhenThatReturns(LossReason reason) {
        Lease lease = lead(a);
        lease.lost().thenAccept(told -> heard.add("told " + told));
        a.lose(INVOICES, reason);
        assertThat(lease.lossReason()).contains(reason);
        assertThat(heard).containsExactlyInAnyOrder("acquired 1", "lost 1 " + reason, "told " + reason);
        boolean free = reason == LossReason.LOCK_DELETED || reason == LossReason.LOCK_RELEASED;
        assertThat(b.election(INVOICES).tryAcquire().isPresent()).isEqualTo(free);
    }

    @Test
    void whatEndsTheSessionEndsAllItsLeases_whatEndsALockOnlyThatOne() {
        for (LossReason reason : LossReason.values()) {
            if (reason == LossReason.RELEASED || reason == LossReason.SHUTDOWN) {
                continue;
            }
            Lease lease = a.election(INVOICES + reason).tryAcquire().orElseThrow();
            Lease sibling = a.election("sibling" + reason).tryAcquire().orElseThrow();
            a.lose(INVOICES + reason, reason);
            assertThat(lease.isHeld()).isFalse();
            assertThat(sibling.isHeld())
                    .as(reason.name())
                    .isEqualTo(reason.name().startsWith("LOCK_"));
        }
    }

    @Test
    void somebodyElseHoldsALockThatWasTaken_untilItIsUnlocked() {
        lead(a);
        a.lose(INVOICES, LossReason.LOCK_TAKEN);
        assertThat(b.election(INVOICES).leader()).contains(InMemoryElections.SOMEBODY_ELSE);
        assertThat(cannotLead(b)).isTrue();
        locks.unlock(INVOICES);
        assertThat(lead(b).isHeld()).isTrue();
        locks.unlock(INVOICES);
        assertThat(cannotLead(b)).isFalse();
    }

    @Test
    void saysWhatCannotBeLost() {
        assertThatIllegalStateException()
                .isThrownBy(() -> a.lose(INVOICES, LossReason.LOCK_TAKEN))
                .withMessageContaining("'a'")
                .withMessageContaining(INVOICES);
        assertThatIllegalStateException().isThrownBy(a::expireSession);
        assertThatIllegalStateException().isThrownBy(() -> locks.unlock(INVOICES));
        Lease lease = lead(a);
        assertThatIllegalStateException().isThrownBy(() -> b.lose(INVOICES, LossReason.LOCK_TAKEN));
        assertThatIllegalArgumentException().isThrownBy(() -> a.lose(INVOICES, LossReason.RELEASED));
        assertThat(lease.isHeld()).isTrue();
        a.expireSession();
        assertThatIllegalStateException().isThrownBy(a::expireSession);
    }

    @Test
    void whoWaitsLongestLeadsNext() throws Exception {
        Lease lease = lead(a);
        List<Call<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            InMemoryElections process = locks.elections("waiting " + i);
            Call<Lease> call = Call.start(() -> process.election(INVOICES).acquire());
            call.awaitBlocked();
            waiting.add(call);
        }
        for (Call<Lease> call : waiting) {
            lease.close();
            lease = call.get();
        }
        assertThat(lease.fencingToken().value()).isEqualTo(6);
    }

    // Tokens.

    @Test
    void tokensGrowOverAllElections_fromTheOneThatWasSet() {
        locks.nextToken(100);
        assertThat(lead(a).fencingToken().value()).isEqualTo(100);
        assertThat(b.election("other").tryAcquire().orElseThrow().fencingToken().value())
                .isEqualTo(101);
    }

    @Test
    void aLowerTokenIsRefusedByWhoSawAHigherOne_andNotByANewProcess() {
        locks.nextToken(1000);
        Lease lease = lead(a);
        assertThat(cannotLead(b)).isTrue(); // and so it has seen the token
        lease.close();
        locks.nextToken(5);
        for (InMemoryElections process : List.of(a, b)) {
            assertThatExceptionOfType(TokenRegressionException.class)
                    .isThrownBy(() -> process.election(INVOICES).acquire())
                    .satisfies(regression -> {
                        assertThat(regression.seen().value()).isEqualTo(1000);
                        assertThat(regression.granted().value()).isLessThan(1000);
                    });
        }
        assertThat(a.election(INVOICES).leader()).as("it left nothing locked").isEmpty();
        assertThat(lead(locks.elections("new")).fencingToken().value()).isEqualTo(7);
    }

    // Callbacks and loops.

    @Test
    void callbacksOfCallbacksHaveRunToo_whenAdvanceReturns() {
        Lease lease = lead(a);
        Lease other = a.election("other").tryAcquire().orElseThrow();
        lease.lost().thenRun(other::close);
        other.lost().thenRun(() -> heard.add("the other, too"));
        lease.close();
        locks.advance(Duration.ZERO);
        assertThat(heard).contains("the other, too");
    }

    @Test
    void aCallbackMayUseTheControlsItself() {
        Lease lease = lead(a);
        lease.lost().thenRun(() -> locks.advance(LOCK_DELAY));
        a.expireSession();
        assertThat(lead(b).isHeld()).isTrue();
    }

    @Test
    void noCallbackRunsInTheThreadThatAsks() {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Lease lease = lead(a);
        lease.lost().thenRun(() -> thread.complete(Thread.currentThread()));
        a.disconnect();
        locks.advance(TERM);
        assertThat(lease.isHeld()).isFalse();
        assertThat(thread.join()).isNotEqualTo(Thread.currentThread()).satisfies(callback -> {
            assertThat(callback.isDaemon()).isTrue();
            assertThat(callback.getName()).isEqualTo("ringfence-callback");
        });
    }

    @Test
    void saysWhichProcessItIs() {
        assertThat(a).hasToString("InMemoryElections[a]");
        assertThat(lead(a).holder()).isEqualTo("a");
    }
}
