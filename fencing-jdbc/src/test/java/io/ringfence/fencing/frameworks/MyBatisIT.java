package io.ringfence.fencing.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.Sql;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.apache.ibatis.exceptions.PersistenceException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** MyBatis puts everything into its own exception, refusals too. */
class MyBatisIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return new MyBatis(dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                PersistenceException.class,
                PersistenceException.class,
                PersistenceException.class,
                PersistenceException.class,
                PersistenceException.class);
    }

    /**
     * MyBatis ends a session that only read by setAutoCommit(true), and would not close the connection if a refusal came
     * from there.
     */
    @Test
    void aSessionThatOnlyRead_givesItsConnectionBack_alsoWhenItIsStale() {
        for (int i = 0; i < 5; i++) {
            assertThat(new MyBatis(fenced()).readAndClose(1, () -> raise(newer)))
                    .isEqualTo("open");
        }

        expectNoConnectionInUse();
    }

    @Test
    void aSessionWhoseQueryWasCancelled_givesItsConnectionBack() {
        for (int i = 0; i < 3; i++) {
            FakeLease held = FakeLease.of(4);
            lease.set(held);
            MyBatis sessions = new MyBatis(((FencedDataSource) fenced()).cancelOnLoss());
            CompletableFuture<Void> loss = CompletableFuture.runAsync(() -> {
                Awaitility.await().until(() -> sleeping() == 1);
                held.lose();
            });

            assertThatThrownBy(sessions::sleep).hasCauseInstanceOf(LeaseLostException.class);
            loss.join();
        }

        expectNoConnectionInUse();
    }

    private int sleeping() throws SQLException {
        return Integer.parseInt(
                Sql.one(database.dataSource(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"));
    }
}
