package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many rows a fenced statement may write, on every database that row fences work on. */
abstract class ExpectedRowsContract extends RowFenceFixture {
    private static final String CLOSE_ALL = "UPDATE invoice SET status = ?";
    private static final String CLOSE_OPEN = "UPDATE invoice SET status = 'closed' WHERE status = ?";

    ExpectedRowsContract(FencedDatabase empty) {
        super(empty);
    }

    private long update(ExpectedRows expected, long token, String sql, Object... parameters) throws SQLException {
        return fence.expecting(expected).update(connection, FakeLease.of(token), sql, parameters);
    }

    private PartiallyFencedException partial(ExpectedRows expected, long token, String sql, Object... parameters) {
        return catchThrowableOfType(PartiallyFencedException.class, () -> update(expected, token, sql, parameters));
    }

    @Test
    void oneIsTheDefault_andMoreAreTooMany() throws SQLException {
        connection.setAutoCommit(false);

        assertThatThrownBy(() -> fence.update(connection, FakeLease.of(7), CLOSE_ALL, "closed"))
                .isInstanceOfSatisfying(
                        TooManyRowsException.class, e -> assertThat(e.rows()).isEqualTo(3))
                .hasMessageContaining("was to write exactly 1 and wrote 3 rows");
        connection.rollback();
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void exactlyTakesThatNumberAndNoOther() throws SQLException {
        assertThat(update(ExpectedRows.exactly(3), 7, CLOSE_ALL, "closed")).isEqualTo(3);
        assertThatThrownBy(() -> update(ExpectedRows.exactly(2), 7, CLOSE_ALL, "closed"))
                .isInstanceOf(TooManyRowsException.class);
        PartiallyFencedException fewer = partial(ExpectedRows.exactly(4), 7, CLOSE_ALL, "closed");
        assertThat(fewer.reason()).isEqualTo(Reason.UNKNOWN);
        assertThat(fewer.written()).isEqualTo(3);
        assertThat(fewer.skipped()).isZero();
        assertThatThrownBy(() -> ExpectedRows.exactly(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("exactly(0)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"exactly", "atLeastOne", "any"})
    void reportsSkippedRows_whenANewerLeaderHoldsSome(String name) throws SQLException {
        ExpectedRows expected = expected(name);
        connection.setAutoCommit(false);

        PartiallyFencedException partial = partial(expected, 4, CLOSE_OPEN, "open");

        assertThat(partial.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(partial.written()).isEqualTo(1);
        assertThat(partial.skipped()).isEqualTo(2);
        assertThat(partial.observed()).hasValue(5);
        assertThat(partial).hasMessageContaining("wrote 1 rows").hasMessageContaining("2 more match and carry token 5");
        connection.rollback();
        assertThat(invoice(3)).isEqualTo("open|0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"exactly", "atLeastOne", "any"})
    void isSuperseded_whenANewerLeaderHoldsAll(String name) {
        FencedOutException all = refused(
                fence.expecting(expected(name)), 4, "UPDATE invoice SET status = 'x' WHERE fencing_token = ?", 5);

        assertThat(all).isNotInstanceOf(PartiallyFencedException.class);
        assertThat(all.reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(all.observed()).hasValue(5);
    }

    private static ExpectedRows expected(String name) {
        return switch (name) {
            case "exactly" -> ExpectedRows.exactly(3);
            case "atLeastOne" -> ExpectedRows.atLeastOne();
            default -> ExpectedRows.any();
        };
    }

    @Test
    void anyTakesAllAndNothing() throws SQLException {
        assertThat(update(ExpectedRows.any(), 5, CLOSE_OPEN, "nowhere")).isZero();
        assertThat(update(ExpectedRows.any(), 5, CLOSE_OPEN, "open")).isEqualTo(3);
        assertThat(update(ExpectedRows.any(), 5, "DELETE FROM invoice")).isEqualTo(3);
    }

    @Test
    void atLeastOneTakesAll_andRefusesNothing() throws SQLException {
        assertThat(refused(fence.expecting(ExpectedRows.atLeastOne()), 5, CLOSE_OPEN, "nowhere")
                        .reason())
                .isEqualTo(Reason.UNKNOWN);
        assertThat(refused(fence.expecting(ExpectedRows.atLeastOne()), 5, CLOSE, "x", 99))
                .isInstanceOf(NoMatchingRowException.class);
        assertThat(update(ExpectedRows.atLeastOne(), 5, CLOSE_OPEN, "open")).isEqualTo(3);
    }

    @Test
    void uncheckedSkipsInSilence() throws SQLException {
        assertThat(update(ExpectedRows.unchecked(), 4, CLOSE_OPEN, "open")).isEqualTo(1);
        assertThat(update(ExpectedRows.unchecked(), 4, CLOSE_OPEN, "nowhere")).isZero();
        assertThat(invoice(1)).isEqualTo("open|5");
    }
}
