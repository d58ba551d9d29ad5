package io.ringfence.election;

/** Why a {@link Lease} ended. Each lease ends with exactly one reason. */
public enum LossReason {
    /** Consul says that our session is gone: it expired or was destroyed, or its agent was stopped. */
    SESSION_EXPIRED,
    /** Another session holds the key although ours still exists. */
    LOCK_TAKEN,
    /** The key was deleted. */
    LOCK_DELETED,
    /** Somebody else released the lock in our session's name. */
    LOCK_RELEASED,
    /** No renewal succeeded in time: we could not reach a working Consul, or this process was frozen. */
    DEADLINE_EXCEEDED,
    /** Consul refused our renewals until the deadline, because the ACL token is not or no longer valid. */
    ACCESS_DENIED,
    /** {@link Lease#close()} was called. */
    RELEASED,
    /** {@link Elections#close()} was called. */
    SHUTDOWN
}
