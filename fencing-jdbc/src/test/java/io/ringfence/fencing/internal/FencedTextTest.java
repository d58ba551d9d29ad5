package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts of other dialects that something else has fenced, and texts that are not fenced at all. */
class FencedTextTest {
    private static final String TAKEN_OVER = "INSERT INTO t (a, fencing_token) VALUES (1, ?) ON DUPLICATE KEY UPDATE ";

    private static FencedText h2(String sql) {
        return FencedText.require(Dialect.H2, sql, RowColumns.of(Dialect.H2, "fencing_token", List.of()));
    }

    private static FencedText mariaDb(String sql) {
        return FencedText.require(Dialect.MARIADB, sql, RowColumns.of(Dialect.MARIADB, "fencing_token", List.of()));
    }

    @Test
    void looksIntoADeltaTableOfH2() {
        FencedText text =
                h2("SELECT a FROM FINAL TABLE (UPDATE t SET a = 1, fencing_token = ? WHERE fencing_token <= ?) x");

        assertThat(text.isReturning()).isTrue();
        assertThat(text.table()).hasToString("T");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM FINAL TABLE (UPDATE t SET a = 1)",
                "SELECT a FROM OLD TABLE (DELETE FROM t WHERE fencing_token <= ?), OLD TABLE (DELETE FROM u)",
                "SELECT (SELECT a FROM OLD TABLE (DELETE FROM t WHERE fencing_token <= ?)) FROM u",
                "DELETE FROM t WHERE id IN (SELECT id FROM OLD TABLE (DELETE FROM u)) AND fencing_token <= ?",
                "SELECT 1",
            })
    void takesNoOtherReadOfH2ForFenced(String sql) {
        assertThatThrownBy(() -> h2(sql)).isInstanceOf(NotFenceableException.class);
    }

    @Test
    void looksAtEveryAssignmentBehindADuplicateKeyOfMariaDb() {
        assertThat(mariaDb(
                                TAKEN_OVER
                                        + "t.a = CASE WHEN (fencing_token <= ?) THEN CASE WHEN 1 = 1 THEN 2 ELSE 3 END ELSE t.a END,"
                                        + " fencing_token = CASE WHEN x = 1 AND t.fencing_token <= ? THEN ? ELSE fencing_token END")
                        .table())
                .hasToString("t");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a = 1",
                "a = 1, fencing_token = CASE WHEN fencing_token <= ? THEN ? ELSE fencing_token END",
                "fencing_token = CASE WHEN fencing_token <= ? THEN ? ELSE fencing_token END,"
                        + " a = CASE WHEN fencing_token <= ? THEN 1 ELSE a END",
                "fencing_token = CASE WHEN fencing_token <= ? THEN ? ELSE ? END",
                "fencing_token = CASE WHEN fencing_token <= ? OR 1 = 1 THEN ? ELSE fencing_token END",
                "fencing_token = CASE WHEN 1 = 1 THEN ? WHEN fencing_token <= ? THEN ? ELSE fencing_token END",
                "fencing_token = CASE WHEN fencing_token <= ? THEN ? WHEN 1 = 1 THEN 9 ELSE fencing_token END",
                "fencing_token = CASE WHEN fencing_token <= ? THEN ? ELSE fencing_token END + 1",
                "",
            })
    void takesNoOtherDuplicateKeyForFenced(String assignments) {
        assertThatThrownBy(() -> mariaDb(TAKEN_OVER + assignments)).isInstanceOf(NotFenceableException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UPDATE t SET a = 1|t",
                "update only s.t x set a = 1 from u|t",
                "delete from t using u|t",
                "with x as (delete from t returning a) insert into u select a from x|t",
                "insert into t(a) values (1) on conflict (a) do update set a = 2|t",
                "select 1; update t set a = 1|t",
                "MERGE INTO t USING u ON 1 = 1 WHEN MATCHED THEN DELETE|t",
                "truncate table u, t|t",
                "replace into t values (1)|t",
                "copy t from stdin|t",
                "select a from final table (delete from t)|t",
                "delete u, t from u join t|t",
                "update u join t on u.a = t.a set t.a = 1|t",
                "select * from t for update|",
                "select * from t for no key update|",
                "insert into u select a from t|",
                "update u set a = 1 from t|",
                "select replace(a, 'update t', '') from t|",
                "select a as \"delete\" from t|",
                "create trigger x before update on t|",
            })
    void findsTheTablesThatATextWritesTo(String sql, String expected) {
        assertThat(WrittenTables.in(Dialect.POSTGRES, sql).stream()
                        .anyMatch(name -> name.last().equals("t")))
                .isEqualTo(expected != null);
    }
}
