package io.ringfence.fencing.frameworks;

/**
 * The types in which failures arrive.
 *
 * @param refusedCommit the refusal of a stale commit: {@code FencedOutException} itself, or what it is the cause of
 * @param refusedStatement the same for a statement that is in no transaction
 * @param refusedWrite the refusal of a write without a lease: {@code NoLeaseException} itself, or what it is the cause of
 * @param failedCommit a commit that fails for a reason of the database's own
 * @param failedWrite a write that fails for such a reason
 */
record Arrival(
        Class<?> refusedCommit,
        Class<?> refusedStatement,
        Class<?> refusedWrite,
        Class<?> failedCommit,
        Class<?> failedWrite) {}
