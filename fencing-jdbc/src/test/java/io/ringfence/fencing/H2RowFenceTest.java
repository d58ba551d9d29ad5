package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One statement on H2. */
class H2RowFenceTest extends RowFenceContract {

    H2RowFenceTest() {
        super(FencedDatabase.h2());
    }

    /** H2 runs a write in the place of a table that is read. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE invoice SET status = 'x' WHERE id IN (SELECT id FROM OLD TABLE (DELETE FROM invoice WHERE id = 2))",
                "DELETE FROM invoice WHERE id IN (SELECT id FROM final /* */ table(UPDATE invoice SET status = 'x'))",
                "UPDATE invoice SET status = (SELECT max(status) FROM NEW TABLE (UPDATE invoice SET status = 'x'))",
                "INSERT INTO invoice (id, {fence.column}) SELECT 9, {fence.token} FROM OLD TABLE (DELETE FROM invoice)",
            })
    void refusesAWriteThatIsRead(String sql) throws SQLException {
        assertThatThrownBy(() -> fence.expecting(ExpectedRows.unchecked()).update(connection, FakeLease.of(4), sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("writes where a table is read");
        assertThat(invoice(2)).isEqualTo("open|5");
    }

    /** To H2 the blanks of Unicode end a word, such as the one that typesetting puts between a number and its unit. */
    @ParameterizedTest
    @ValueSource(strings = {"\u00a0", "\u2003", "\u2028", "\u3000"})
    void refusesBlanksThatH2AloneSees(String blank) throws SQLException {
        String sql = "DELETE FROM invoice WHERE {fence.where} AND status IS NULL OR status = 'open'"
                .replace(" OR ", blank + "OR" + blank);

        assertThatThrownBy(() -> fence.expecting(ExpectedRows.unchecked()).update(connection, FakeLease.of(4), sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("the character '" + blank + "'");
        assertThat(invoice(1)).isEqualTo("open|5");
    }
}
