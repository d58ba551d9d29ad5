package io.ringfence.election.consul;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Leads again and again, for a moment or until its lease is lost, and notes its terms in a common log. */
final class ChaosContender {
    private static final int SHORT_TERM_MILLIS = 3_000;
    private static final int LONG_TERM_MILLIS = 12_000;
    private static final int UNTIL_LOST_MILLIS = 60_000;

    private final Election election;
    private final ChaosLog log;
    private final UnaryOperator<Lease> hearing;
    private volatile @Nullable Lease lease;
    private volatile boolean clinging;
    private volatile boolean isClung;

    /**
     * Creates one that does not contend yet.
     *
     * @param hearing what it makes of the leases that it wins
     */
    ChaosContender(Election election, ChaosLog log, UnaryOperator<Lease> hearing) {
        this.election = election;
        this.log = log;
        this.hearing = hearing;
    }

    Thread start() {
        Thread thread = new Thread(this::run);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Whether terms that begin from now on last until they are lost. */
    void cling(boolean untilLost) {
        clinging = untilLost;
    }

    /** The lease, if it is held now. */
    Optional<Lease> held() {
        Lease last = lease;
        return last != null && last.isHeld() ? Optional.of(last) : Optional.empty();
    }

    /** The lease of a term that lasts until it is lost. */
    Optional<Lease> clung() {
        return isClung ? held() : Optional.empty();
    }

    private void run() {
        try {
            while (true) {
                lead();
            }
        } catch (InterruptedException | IllegalStateException e) {
            // the test is over, and the elections may be closed
        }
    }

    private void lead() throws InterruptedException {
        try (Lease won = hearing.apply(election.acquire())) {
            lease = won;
            log.began(won.fencingToken());
            ThreadLocalRandom random = ThreadLocalRandom.current();
            isClung = clinging;
            int millis = random.nextInt(random.nextBoolean() ? SHORT_TERM_MILLIS : LONG_TERM_MILLIS);
            log.ended(lossWithin(won, isClung ? UNTIL_LOST_MILLIS : millis));
        } catch (ElectionException e) {
            log.failed(e);
        }
    }

    private static Optional<LossReason> lossWithin(Lease lease, int millis) throws InterruptedException {
        try {
            return Optional.of(lease.lost().toCompletableFuture().get(millis, TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new AssertionError("a loss is never an exception", e);
        }
    }
}
