package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where H2 and MariaDB read a statement differently from PostgreSQL. */
class DialectTest {

    private static FencedStatement compile(Dialect dialect, String sql) {
        return FencedStatement.compile(dialect, sql, RowColumns.of(dialect, "fencing_token", List.of("id")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE t SET a = 1 # where it's\n, b = ? WHERE id = ?",
                "UPDATE t SET a = 1 -- where it's\n, b = ? WHERE id = ?",
                "UPDATE t SET a = /* /* ? */ 1, b = ? WHERE id = ?",
                "UPDATE t SET `a ? ``where` = 1, b = ? WHERE id = ?",
                "UPDATE db.`order` AS o SET a$b = X'1F', b = ? WHERE ID = ?",
                "UPDATE t SET a = 'it''s ? # where', b = ? WHERE (id = ?)",
                "UPDATE t SET a = e, b = ? WHERE `id` = ? AND (x | => y)",
                "UPDATE t SET a$ = 5 DIV 2, b = ? WHERE id = ?",
            })
    void readsMariaDb(String sql) {
        FencedStatement statement = compile(Dialect.MARIADB, sql);

        assertThat(statement.fenced().binds()).containsExactly(0, SqlTemplate.TOKEN, 1, SqlTemplate.TOKEN);
        assertThat(statement.reads().keyText(new Object[] {"b", 7})).endsWith(" = 7");
        assertThat(statement.reads().diagnosis().sql()).endsWith("\nLOCK IN SHARE MODE WAIT 2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '~',
            value = {
                "UPDATE t SET a = \"x\" WHERE id = 1 => the character '\"'",
                "UPDATE t SET a = 1 --x => two dashes without a blank",
                "UPDATE t SET a = 5--1 WHERE id = 1 => two dashes without a blank",
                "UPDATE t SET a = 1 /*! WHERE id = 1 */ => a comment that MariaDB runs as SQL",
                "UPDATE t SET a = 1 /*M!100000 WHERE id = 1 */ => a comment that MariaDB runs as SQL",
                "UPDATE t SET a = 'x\\' WHERE id = 1 => a backslash before a quote",
                "UPDATE t SET a = @x WHERE id = 1 => the character '@'",
                "UPDATE t SET a = b := 1 WHERE id = 1 => an assignment",
                "UPDATE t SET a = ?? WHERE id = 1 => two question marks",
                "UPDATE t SET [a] = 1 WHERE id = 1 => a '['",
                "UPDATE IGNORE t SET a = 1 => a modifier",
                "UPDATE LOW_PRIORITY t SET a = 1 => a modifier",
                "DELETE QUICK FROM t => 'QUICK' instead of FROM",
                "UPDATE t PARTITION (p0) SET a = 1 => instead of SET",
                "UPDATE t, u SET t.a = 1 => instead of SET",
                "UPDATE t SET a = 1 FROM u => for PostgreSQL only",
                "DELETE FROM t USING t JOIN u => for PostgreSQL only",
                "REPLACE INTO t (a) VALUES (1) => 'REPLACE' instead of",
                "INSERT INTO t (a, {fence.column}) VALUES (1, {fence.token}) ON DUPLICATE KEY UPDATE a = 1 => update first",
                "INSERT INTO t (a, {fence.column}) SELECT 1, {fence.token} ON DUPLICATE KEY UPDATE a = 1 => update first",
                "INSERT INTO t (a, {fence.column}) SELECT b, {fence.token} FROM u JOIN v ON u.i = v.i ON DUPLICATE KEY UPDATE a = 1 => update first",
                "UPDATE t SET a = 1 WHERE x || {fence.where} => {fence.set}",
                "DELETE FROM t WHERE {fence.where} || x => no {fence.where} that AND joins",
                "DELETE FROM t WHERE {fence.where} XOR x => no {fence.where} that AND joins",
                "DELETE FROM t WHERE a AND {fence.where} XOR x AND y => no {fence.where} that AND joins",
                "DELETE FROM t WHERE CASE WHEN end THEN a AND {fence.where} AND b END => no {fence.where} that AND joins",
            })
    void refusesInMariaDb(String sql, String why) {
        assertThatThrownBy(() -> compile(Dialect.MARIADB, sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE t SET a = 1 // where it's\n, b = ? WHERE id = ?",
                "UPDATE t SET a = /* /* ? */ where */ 1, b = ? WHERE id = ?",
                "UPDATE t SET \"a ? \"\"where\" = 1, b = ? WHERE \"ID\" = ?",
                "UPDATE s.t AS o SET a = $$ ? ' where $$, b = ? WHERE o.Id = ?",
                "UPDATE t SET a = U&'\\0041 ?', b = ? WHERE (id = ?::int)",
                "UPDATE t SET a = 'x' || 'y', b = ? WHERE id = ? AND x | => y = 'z'",
            })
    void readsH2(String sql) {
        FencedStatement statement = compile(Dialect.H2, sql);

        assertThat(statement.fenced().binds()).containsExactly(0, SqlTemplate.TOKEN, 1, SqlTemplate.TOKEN);
        assertThat(statement.reads().keyText(new Object[] {"b", 7})).contains(" = 7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '~',
            value = {
                "UPDATE t SET a = `x` WHERE id = 1 => the character '`'",
                "UPDATE t SET a = ?1 WHERE id = ?2 => a numbered parameter",
                "UPDATE t SET a = $tag$ x $tag$ => a $ that starts no string",
                "UPDATE t SET a = E'\\' WHERE id = 1 => a backslash before a quote",
                "DELETE TOP 1 FROM t => 'TOP' instead of FROM",
                "UPDATE t SET a = 1 WHERE id = 1 FETCH FIRST ROW ONLY => 'FETCH' instead of",
                "MERGE INTO t KEY (id) VALUES (1) => 'MERGE' instead of",
            })
    void refusesInH2(String sql, String why) {
        assertThatThrownBy(() -> compile(Dialect.H2, sql))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining(why);
    }

    @Test
    void foldsNamesAsEachServerDoes() {
        assertThat(SqlName.parse(Dialect.H2, "Billing.\"Invoice\"", 2).quoted()).isEqualTo("\"BILLING\".\"Invoice\"");
        assertThat(SqlName.parse(Dialect.MARIADB, "Billing.`In``voice`", 2).quoted())
                .isEqualTo("`Billing`.`In``voice`");
        assertThatThrownBy(() -> SqlName.parse(Dialect.MARIADB, "\"x\"", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MariaDB");
    }
}
