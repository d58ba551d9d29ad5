package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.SQLException;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** What a fenced batch does on every database that row fences work on. */
abstract class FencedBatchContract extends RowFenceFixture {

    FencedBatchContract(FencedDatabase empty) {
        super(empty);
    }

    private FencedBatch closing(int... ids) {
        FencedBatch batch = fence.batch(CLOSE);
        for (int id : ids) {
            batch.add("closed", id);
        }
        return batch;
    }

    private <T extends Throwable> T refused(Class<T> type, FencedBatch batch, long token) {
        return Assertions.catchThrowableOfType(type, () -> batch.execute(connection, FakeLease.of(token)));
    }

    @Test
    void writesEveryEntry() throws SQLException {
        connection.setAutoCommit(false);

        assertThat(closing(1, 2, 3).execute(connection, FakeLease.of(7))).containsExactly(1, 1, 1);
        connection.commit();

        assertThat(invoice(1)).isEqualTo("closed|7");
        assertThat(invoice(3)).isEqualTo("closed|7");
    }

    @Test
    void namesTheRefusedEntries_whenSomeAreStale() throws SQLException {
        Sql.execute(dataSource, "UPDATE invoice SET fencing_token = 0 WHERE id = 1");
        connection.setAutoCommit(false);

        PartiallyFencedException partial = refused(PartiallyFencedException.class, closing(1, 2, 3), 4);

        assertThat(partial.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(partial.entries()).containsExactly(1);
        assertThat(partial.written()).isEqualTo(2);
        assertThat(partial.observed()).hasValue(5);
        assertThat(partial.key()).contains("id = 2");
        assertThat(partial).hasMessageContaining("wrote 2 rows and failed at entry [1]");
        connection.rollback();
        assertThat(invoice(1)).isEqualTo("open|0");
        assertThat(invoice(3)).isEqualTo("open|0");
    }

    @Test
    void isSuperseded_whenAllAreStale() throws SQLException {
        connection.setAutoCommit(false);

        FencedOutException all = refused(FencedOutException.class, closing(2, 1), 4);

        assertThat(all).isNotInstanceOf(PartiallyFencedException.class);
        assertThat(all.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(all.entries()).containsExactly(0, 1);
    }

    @Test
    void putsAStaleEntryBeforeAMissingOne() throws SQLException {
        connection.setAutoCommit(false);

        PartiallyFencedException partial = refused(PartiallyFencedException.class, closing(99, 3, 1), 4);

        assertThat(partial.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(partial.entries()).containsExactly(0, 2);
        assertThat(partial.key()).contains("id = 1");
    }

    @Test
    void saysNoMatchingRow_whenEntriesAreMerelyMissing() throws SQLException {
        connection.setAutoCommit(false);

        NoMatchingRowException missing = refused(NoMatchingRowException.class, closing(1, 98, 99), 9);

        assertThat(missing.entries()).containsExactly(1, 2);
        assertThat(missing.key()).contains("id = 98");
    }

    @Test
    void reportsAnEntryThatWroteMoreThanExpected() throws SQLException {
        connection.setAutoCommit(false);
        FencedBatch batch = fence.batch("UPDATE invoice SET status = ? WHERE id >= ?");
        batch.add("closed", 3).add("closed", 1);

        assertThat(refused(TooManyRowsException.class, batch, 9).rows()).isEqualTo(3);
    }

    @Test
    void keepsToTheExpectationOfItsFence() throws SQLException {
        connection.setAutoCommit(false);
        FencedBatch any = fence.expecting(ExpectedRows.any()).batch("UPDATE invoice SET status = ? WHERE id >= ?");
        any.add("closed", 2).add("closed", 99);

        assertThat(any.execute(connection, FakeLease.of(5))).containsExactly(2, 0);
        connection.rollback();
        PartiallyFencedException partial = refused(PartiallyFencedException.class, any, 4);
        assertThat(partial.entries()).containsExactly(0);
        assertThat(partial.written()).isEqualTo(1);
    }

    @Test
    void refusesAutoCommit_andSendsNothing() throws SQLException {
        assertThatThrownBy(() -> closing(1).execute(connection, FakeLease.of(9)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("needs a transaction");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void doesNothing_whenItIsEmpty() throws SQLException {
        connection.setAutoCommit(false);

        assertThat(closing().execute(connection, FakeLease.of(9))).isEmpty();
    }

    @Test
    void asksTheLeaseFirst() {
        FakeLease lost = FakeLease.of(9);
        lost.lose();

        assertThatThrownBy(() -> closing(1).execute(connection, lost)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void namesBothNumbers_whenAnEntryHasTheWrongParameters() throws SQLException {
        connection.setAutoCommit(false);

        assertThatThrownBy(() -> closing(1).add("closed").execute(connection, FakeLease.of(9)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("takes 2 parameters, but 1 were given");
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void runsAgain_afterARollback() throws SQLException {
        connection.setAutoCommit(false);
        FencedBatch batch = closing(1, 2);

        batch.execute(connection, FakeLease.of(7));
        connection.rollback();
        assertThat(batch.execute(connection, FakeLease.of(8))).containsExactly(1, 1);
        connection.commit();

        assertThat(batch.size()).isEqualTo(2);
        assertThat(invoice(2)).isEqualTo("closed|8");
    }
}
