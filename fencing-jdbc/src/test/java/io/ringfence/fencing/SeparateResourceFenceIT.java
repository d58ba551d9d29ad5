package io.ringfence.fencing;

/** The contract for a fence that calls the function, then commits. */
class SeparateResourceFenceIT extends ResourceFenceContract {

    @Override
    SealMode mode() {
        return SealMode.SEPARATE;
    }
}
