package io.ringfence.fencing;

import io.ringfence.election.Lease;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A statement under way. A cancel is sent while it is, or never: the next one on the connection is not hit. */
final class Flight {
    private static final Logger LOG = LoggerFactory.getLogger(FencedDataSource.class);
    private static final long AGAIN_MILLIS = 50;

    private final Lease lease;
    private final Statement statement;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition landed = lock.newCondition();
    private boolean ended;
    private boolean cancelled;

    Flight(Lease lease, Statement statement) {
        this.lease = lease;
        this.statement = statement;
    }

    Lease lease() {
        return lease;
    }

    /** Cancels again and again: a driver ignores it while it has not sent the statement yet. */
    void cancel() {
        lock.lock();
        try {
            while (!ended) {
                cancelled = true;
                statement.cancel();
                landed.await(AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (SQLException | RuntimeException e) {
            LOG.atWarn().setCause(e).log("The statement under way could not be cancelled after the loss of the lease");
        } finally {
            lock.unlock();
        }
    }

    /** Ends it, after a cancel that is being sent, and tells whether there was one. */
    boolean end() {
        lock.lock();
        try {
            ended = true;
            landed.signalAll();
            return cancelled;
        } finally {
            lock.unlock();
        }
    }
}
