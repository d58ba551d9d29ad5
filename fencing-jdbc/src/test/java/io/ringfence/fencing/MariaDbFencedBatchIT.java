package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Batches on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbFencedBatchIT extends FencedBatchContract {

    MariaDbFencedBatchIT(MariaDbDatabase empty) {
        super(FencedDatabase.mariaDb(empty.dataSource()));
    }

    @Test
    void isIndeterminate_whenTheDriverSendsTheBatchInBulk(MariaDbDatabase other) throws SQLException {
        DataSource bulk = other.dataSource("useBulkStmts=true");
        Sql.execute(
                bulk,
                "CREATE TABLE invoice (id int PRIMARY KEY, status varchar(40))",
                FenceSchema.mariaDb().tokenColumn("invoice"),
                "INSERT INTO invoice VALUES (1, 'open', 0), (2, 'open', 5)");
        try (Connection own = bulk.getConnection()) {
            own.setAutoCommit(false);
            FencedBatch batch = fence.batch(CLOSE).add("closed", 1).add("closed", 2);

            assertThatThrownBy(() -> batch.execute(own, FakeLease.of(4)))
                    .isInstanceOf(IndeterminateCountException.class)
                    .hasMessageContaining("useBulkStmts");
        }
    }
}
