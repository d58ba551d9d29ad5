package io.ringfence.election.testing;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.LossReason;
import java.time.Duration;

/** The contract in memory. */
class InMemoryElectionsTest extends ElectionContract {
    private final InMemoryLockService locks = new InMemoryLockService(Duration.ofSeconds(10), Duration.ZERO);

    @Override
    protected Elections make(String holder, ElectionListener... listeners) {
        return locks.elections(holder, listeners);
    }

    @Override
    protected void takeAway(Elections holder, String election, LossReason reason) {
        InMemoryElections robbed = (InMemoryElections) holder;
        if (reason == LossReason.SESSION_EXPIRED) {
            robbed.expireSession();
        } else {
            robbed.lose(election, reason);
        }
    }

    @Override
    protected void letGo(String election) {
        locks.unlock(election);
    }

    @Override
    protected void pass(Duration duration) {
        locks.advance(duration);
    }
}
