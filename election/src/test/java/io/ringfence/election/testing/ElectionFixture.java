package io.ringfence.election.testing;

import static org.awaitility.Awaitility.await;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** The hooks that an implementation fills in, and what the tests of the contract share. */
@Timeout(60)
abstract class ElectionFixture {
    static final Duration SOON = Duration.ofSeconds(10);
    private static final AtomicInteger TESTS = new AtomicInteger();

    private final List<Elections> open = new ArrayList<>();
    final CountDownLatch neverEnds = new CountDownLatch(1);
    final Queue<String> events = new ConcurrentLinkedQueue<>();
    String name = "";

    /** Makes the elections of one process, with a lock delay of zero. */
    protected abstract Elections make(String holder, ElectionListener... listeners);

    /** Takes the lease of a process away: {@code SESSION_EXPIRED}, or one of {@code LOCK_*}. */
    protected abstract void takeAway(Elections holder, String election, LossReason reason);

    /** Lets whoever {@linkplain LossReason#LOCK_TAKEN took} the lock give it back. */
    protected abstract void letGo(String election);

    /** Lets that much time pass. */
    protected abstract void pass(Duration duration);

    @BeforeEach
    void name(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName() + "/" + TESTS.incrementAndGet();
    }

    @AfterEach
    void close() {
        neverEnds.countDown();
        open.forEach(Elections::close);
    }

    Elections elections(ElectionListener... listeners) {
        return elections("someone", listeners);
    }

    Elections elections(String holder, ElectionListener... listeners) {
        Elections elections = make(holder, listeners);
        open.add(elections);
        return elections;
    }

    Election contender() {
        return elections().election(name);
    }

    void awaitEvent(String event) {
        await().atMost(SOON).until(() -> events.contains(event));
    }

    void block() {
        boolean ended = false;
        while (!ended) {
            try {
                ended = neverEnds.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                events.add("an interrupt was ignored");
            }
        }
    }

    ElectionListener recorder(String prefix) {
        return new Recorder(prefix, events);
    }

    final class Blocking implements ElectionListener {
        @Override
        public void onAcquired(Lease lease) {
            block();
        }
    }

    static final class Throwing implements ElectionListener {
        @Override
        public void onAcquired(Lease lease) {
            throw new IllegalStateException("thrown by the listener of a test");
        }

        @Override
        public void onLost(Lease lease, LossReason reason) {
            throw new IllegalStateException("thrown by the listener of a test");
        }
    }
}
