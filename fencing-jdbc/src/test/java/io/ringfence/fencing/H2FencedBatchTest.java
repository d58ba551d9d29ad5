package io.ringfence.fencing;

/** Batches on H2. */
class H2FencedBatchTest extends FencedBatchContract {

    H2FencedBatchTest() {
        super(FencedDatabase.h2());
    }
}
