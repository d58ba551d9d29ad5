package io.ringfence.fencing;

/** The contract for a fence that seals and commits in one message. */
class WithCommitResourceFenceIT extends ResourceFenceContract {

    @Override
    SealMode mode() {
        return SealMode.WITH_COMMIT;
    }
}
