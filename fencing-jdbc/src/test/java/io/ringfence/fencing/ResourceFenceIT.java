package io.ringfence.fencing;

/** The contract for a fence that reads and locks the table itself. */
class ResourceFenceIT extends ResourceFenceContract {

    @Override
    SealMode mode() {
        return SealMode.TABLE;
    }
}
