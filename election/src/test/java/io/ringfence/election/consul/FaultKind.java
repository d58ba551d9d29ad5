package io.ringfence.election.consul;

/** All that goes wrong in simulated histories. */
enum FaultKind {
    REQUEST_LOST,
    ANSWER_LOST,
    /** At times later than the time-out. */
    ANSWER_LATE,
    ERROR_WITHOUT_EFFECT,
    ERROR_WITH_EFFECT,
    /** A copy is carried out again, up to half a minute later. */
    REQUEST_TWICE,
    /** All answers take longer for a while, but not longer than the time-out. */
    SLOW,
    /** A process reaches nothing for a while. */
    CUT_OFF,
    /** A watch fails, or hangs until its time-out. */
    WATCH_CUT,
    WATCH_LATE,
    /** A list as it was some changes ago. */
    WATCH_STALE,
    /** A list without a key that is there, as ACLs make it. */
    KEY_HIDDEN,
    ACCESS_DENIED,
    /** Errors, and nothing expires; then all sessions start anew. */
    NO_RAFT_LEADER,
    /** A session that died before twice its ttl. */
    EARLY_EXPIRY,
    PROCESS_FROZEN,
    PROCESS_KILLED,
    PROCESS_RESTARTED,
    CLOCK_DRIFT,
    WALL_CLOCK_FORWARD,
    WALL_CLOCK_BACK,
    /** A process is frozen, and its monotonic clock stands still. */
    SUSPENDED,
    FOREIGN_PUT,
    SESSION_DESTROYED,
    KEY_DELETED,
    KEY_RELEASED,
    KEY_LOCKED,
    /** Consul goes back to a snapshot; new indexes go on from the old ones. */
    RESTORED,
    /** Consul loses everything, or all since a snapshot; indexes start low. */
    REBUILT
}
