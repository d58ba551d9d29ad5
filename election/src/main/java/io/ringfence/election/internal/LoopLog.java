package io.ringfence.election.internal;

import io.ringfence.election.LeaderLoop;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/** The log lines of one loop. */
final class LoopLog {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderLoop.class);

    private final String election;

    LoopLog(String election) {
        this.election = election;
    }

    void stepFailed(Throwable e) {
        at(Level.ERROR).setCause(e).log("a step of a leader loop failed; the loop goes on");
    }

    void interruptedBySomebodyElse() {
        at(Level.WARN).log("a leader loop was interrupted by somebody else between two terms; it goes on");
    }

    void couldNotContend(RuntimeException e) {
        at(e instanceof TokenRegressionException ? Level.ERROR : Level.WARN)
                .setCause(e)
                .log("a leader loop could not contend; it tries again after a pause");
    }

    void workThrew(TermLease lease, Throwable e) {
        LossReason reason = lease.lossReason().orElse(null);
        if (reason == null) {
            at(Level.ERROR, lease).setCause(e).log("the work of a leader failed, so this term ends");
        } else if (e instanceof InterruptedException || e instanceof LeaseLostException) {
            at(Level.DEBUG, lease).setCause(e).log("the work of a leader ended on a loss");
        } else {
            at(Level.WARN, lease).setCause(e).log("the work of a leader failed after its lease was lost");
        }
    }

    void workOverran(TermLease lease, Duration stopTimeout, Thread worker) {
        Throwable where = new Throwable("This is where the work is");
        where.setStackTrace(worker.getStackTrace());
        at(Level.ERROR, lease)
                .addKeyValue("ringfence.reason", lease.lossReason().orElse(null))
                .setCause(where)
                .log(
                        "the work of a leader still runs {} after its lease was lost and it was interrupted. Its key is"
                                + " unlocked now, so another leader may work at the same time, and only a fence protects."
                                + " Make the work end when it is interrupted",
                        stopTimeout);
    }

    void closedItself() {
        at(Level.ERROR)
                .log("the work of a leader closes its own elections, so its key is unlocked while it still runs."
                        + " Close them from another thread");
    }

    private LoggingEventBuilder at(Level level) {
        return LOG.atLevel(level).addKeyValue("ringfence.election", election);
    }

    private LoggingEventBuilder at(Level level, TermLease lease) {
        return at(level).addKeyValue("ringfence.token", lease.fencingToken());
    }
}
