package io.ringfence.election.testing;

import io.ringfence.election.ElectionException;
import io.ringfence.election.LossReason;

/** Whether a process reaches the lock service, and if not, since when. Guarded by the world's lock. */
final class Connection {
    enum Link {
        UP,
        DOWN,
        DENIED
    }

    private final World world;
    private Link link = Link.UP;
    private boolean paused;
    private long cutOffAt;

    Connection(World world) {
        this.world = world;
    }

    void set(boolean nowPaused, Link nowLink) {
        boolean before = isCutOff();
        paused = nowPaused;
        link = nowLink;
        if (isCutOff() && !before) {
            cutOffAt = world.now();
        }
    }

    Link link() {
        return link;
    }

    boolean isPaused() {
        return paused;
    }

    boolean isDenied() {
        return link == Link.DENIED;
    }

    boolean isCutOff() {
        return paused || link != Link.UP;
    }

    /** When the process stops to count on its session, if it is cut off. */
    long deadline() {
        return cutOffAt + world.term.toNanos();
    }

    /** When the lock service ends the session, if the process is cut off. */
    long expiry() {
        return cutOffAt + world.sessionTtl.toNanos();
    }

    /** How long leases live if the process never reaches the lock service again. */
    long nanosLeft() {
        return isCutOff() ? Math.max(deadline() - world.now(), 0) : world.term.toNanos();
    }

    /** Why leases end at the deadline. */
    LossReason reason() {
        return isDenied() ? LossReason.ACCESS_DENIED : LossReason.DEADLINE_EXCEEDED;
    }

    /** What a call ends with that wants something of the lock service. */
    ElectionException failure(String holder) {
        return new ElectionException(
                (isDenied() ? "The lock service denies access to '" : "The lock service cannot be reached by '")
                        + holder + "', because the test said so. It ends with resume() or reconnect()",
                null);
    }
}
