package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The builder on H2. */
class H2FencedRowTest extends FencedRowContract {

    H2FencedRowTest() {
        super(FencedDatabase.h2());
    }

    @Test
    void refusesAnUpsert_andSaysWhatToDo() {
        assertThatThrownBy(() -> fence.row("invoice").where("id", 9).upsert(connection, FakeLease.of(7)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("update first, and insert after a NoMatchingRowException");
    }
}
