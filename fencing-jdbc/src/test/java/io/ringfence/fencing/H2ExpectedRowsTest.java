package io.ringfence.fencing;

/** Expectations on H2. */
class H2ExpectedRowsTest extends ExpectedRowsContract {

    H2ExpectedRowsTest() {
        super(FencedDatabase.h2());
    }
}
