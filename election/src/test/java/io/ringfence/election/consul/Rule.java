package io.ringfence.election.consul;

/** What is checked in a simulated history. Where one of these cannot hold, {@link Faults} says so and why. */
enum Rule {
    /** At most one lease of a key says that it is held. */
    ONE_LEADER,
    /** Each token of a key is greater than all that were granted for it before, to whomever. */
    TOKENS_GROW,
    /** Each token of a key is greater than all that the same process was granted for it before. */
    TOKENS_GROW_IN_A_PROCESS,
    /** The token of a lock that was answered in time is the index that this answer told. */
    TOKEN_OF_THE_LOCK,
    /** At least half of the term is left when a lease is granted. */
    FRESH_GRANT,
    /** A loss is declared in time, for one reason, and told exactly once. */
    ONE_LOSS,
    /** A lease that was seen lost is never held again. */
    LOSS_IS_FINAL,
    /** A lease whose key its session does not hold any more ends soon. */
    LOSS_IS_NOTICED,
    /** A key stays locked until the work for its lease has ended. */
    WORK_ENDS_FIRST,
    /** No lease is lost unless its owner wants it. */
    WANTED_LOSS,
    /** A session that its process renews holds only what somebody there owns. */
    NO_ORPHAN,
    /** A session that its process has given up is destroyed. */
    NO_SESSION_LEFT,
    /** A free key that somebody waits for is taken. */
    TAKEN_AT_ONCE,
    /** Calls that do not wait for their turn end, and so do releases. */
    ANSWERED,
    /** Waiting changes nothing in Consul and asks for little. */
    QUIET_WAITING,
    /** Nobody is told that tokens went backwards when they did not. */
    NO_FALSE_ALARM,
    /** Nothing throws what it should not. */
    NOTHING_THROWN
}
