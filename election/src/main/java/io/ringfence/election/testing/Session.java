package io.ringfence.election.testing;

/**
 * What a process holds its keys with. It ends twice: for the lock service, which frees its keys, and for the process, which
 * loses its leases. Guarded by the world's lock.
 */
final class Session {
    final String holder;

    /** The lock service has ended it. */
    boolean ended;

    /** The process does not count on it any more. */
    boolean dead;

    Session(String holder) {
        this.holder = holder;
    }
}
