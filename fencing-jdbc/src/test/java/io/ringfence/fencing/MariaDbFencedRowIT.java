package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The builder on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbFencedRowIT extends FencedRowContract {

    MariaDbFencedRowIT(MariaDbDatabase empty) {
        super(FencedDatabase.mariaDb(empty.dataSource()));
    }

    @Test
    void refusesAnUpsert_andSaysWhatToDo() {
        assertThatThrownBy(() -> fence.row("invoice").where("id", 9).upsert(connection, FakeLease.of(7)))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("update first, and insert after a NoMatchingRowException");
    }
}
