package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FencedStatementTest {
    private static final int TOKEN = SqlTemplate.TOKEN;
    private static final RowColumns COLUMNS = RowColumns.of(Dialect.POSTGRES, "fencing_token", List.of("id"));

    private static FencedStatement compile(String sql) {
        return FencedStatement.compile(Dialect.POSTGRES, sql, COLUMNS);
    }

    @Test
    void addsTokenAndBracketedPredicate_toAnUpdate() {
        FencedStatement statement = compile("UPDATE invoice SET status = ?, note = ? WHERE id = ? OR id = ?");

        assertThat(statement.fenced().sql())
                .isEqualTo("UPDATE invoice SET status = ?, note = ?, fencing_token = ? WHERE ( id = ? OR id = ?\n"
                        + ") AND fencing_token <= ?");
        assertThat(statement.fenced().binds()).containsExactly(0, 1, TOKEN, 2, 3, TOKEN);
    }

    @Test
    void addsBracketedPredicate_toADelete() {
        FencedStatement statement = compile("delete from only billing.\"In voice\" as i where i.id = ?;");

        assertThat(statement.fenced().sql())
                .isEqualTo("delete from only billing.\"In voice\" as i where ( i.id = ?\n) AND fencing_token <= ?");
        assertThat(statement.fenced().binds()).containsExactly(0, TOKEN);
        assertThat(statement.table().parts()).containsExactly("billing", "In voice");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE t SET a = ? WHERE id = ? RETURNING a",
                "DELETE FROM t WHERE id = ?",
                "INSERT INTO t (id, {fence.column}) VALUES (?, {fence.token})",
                "INSERT INTO t (id, {fence.column}) SELECT id, {fence.token} FROM s WHERE a = ?",
                "INSERT INTO t AS x (id, {fence.column}) VALUES (?, {fence.token})"
                        + " ON CONFLICT (id) DO UPDATE SET {fence.set} WHERE {fence.where x}",
            })
    void tellsGuardsTheToken_whereverTheTokenStands(String sql) {
        SqlTemplate fenced = compile(sql).fenced();
        SqlTemplate telling = compile(sql).telling();

        assertThat(telling.binds()).isEqualTo(fenced.binds());
        assertThat(telling.sql()).contains("set_config('ringfence.token', CAST(? AS pg_catalog.text), true)");
        assertThat(telling.sql().replace(TokenSetting.TELLING_PARAMETER, "?")).isEqualTo(fenced.sql());
        String elsewhere = "DELETE FROM t WHERE id = ?";
        FencedStatement h2 = FencedStatement.compile(
                Dialect.H2, elsewhere, RowColumns.of(Dialect.H2, "fencing_token", List.of("id")));
        assertThat(h2.telling()).isEqualTo(h2.fenced());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UPDATE t SET a = 1                     | UPDATE t SET a = 1, fencing_token = ? WHERE fencing_token <= ?",
                "UPDATE t SET a = 1 -- where it goes    | UPDATE t SET a = 1, fencing_token = ? WHERE fencing_token <= ?",
                "DELETE FROM t                          | DELETE FROM t WHERE fencing_token <= ?",
                "DELETE FROM t * x ;;                   | DELETE FROM t * x WHERE fencing_token <= ?",
            })
    void fencesStatementsWithoutCondition(String sql, String fenced) {
        assertThat(compile(sql).fenced().sql()).isEqualTo(fenced);
    }

    @Test
    void closesTheBracketOnALineOfItsOwn_whenTheConditionEndsInAComment() {
        assertThat(compile("UPDATE t SET a = ? WHERE id = ? -- the one")
                        .fenced()
                        .sql())
                .endsWith("WHERE ( id = ? -- the one\n) AND fencing_token <= ?");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE t SET a = '? where -- /* ;', b = ? WHERE id = ?",
                "UPDATE t SET a = E'it\\'s ? ; where', b = ? WHERE id = ?",
                "UPDATE t SET a = U&'\\0061 ?', b = ? WHERE id = ?",
                "UPDATE t SET a = $$ ? ' ; where $x$ $$, b = ? WHERE id = ?",
                "UPDATE t SET a = $tag$ ? $$ ; where $tag$, b = ? WHERE id = ?",
                "UPDATE t SET a = N'?', c = B'01', d = X'1F', b = ? WHERE id = ?",
                "UPDATE t SET a = /* ? /* where ' */ ; */ 1, b = ? WHERE id = ?",
                "UPDATE t SET a = 1, -- ? it's where;\r\n b = ? WHERE id = ?",
                "UPDATE t SET \"a ? where\" = 1, b = ? WHERE id = ?",
                "UPDATE t SET \"a \"\" ?\" = 1, b = ? WHERE id = ?",
                "UPDATE t SET a = doc ?? 'k', c = doc ??| array['x'], b = ? WHERE id = ?",
                "UPDATE t SET a = (w).where, c = w.from, b = ? WHERE id = ?",
                "UPDATE t w SET a = cast(1 AS where), b = ? WHERE id = ?",
                "UPDATE t SET a = b IS DISTINCT FROM c, b = ? WHERE id = ?",
                "UPDATE t SET a = b IS NOT DISTINCT FROM c, b = ? WHERE id = ?",
                "UPDATE t SET a = CASE WHEN x = 1 THEN 2 ELSE 3 END, b = ? WHERE id = ?",
                "UPDATE t SET a = (SELECT max(x) FROM u WHERE y = 1 ORDER BY 1 LIMIT 1), b = ? WHERE id = ?",
                "UPDATE t SET a = extract(year FROM now()), b = ? WHERE id = ?",
                "UPDATE t SET a[1] = 2, c[1:2] = '{1,2}'::int[], d.e = 1, b = ? WHERE id = ?",
                "UPDATE t SET (a, c) = (1, 2), (d) = ROW(3), b = ? WHERE id = ?",
                "UPDATE t SET a = f(x := 1, y => 2), b = ? WHERE id = ?",
                "UPDATE t SET a$1 = 1.5e-3, é = 0xFF, b = ? WHERE id = ?",
                "UPDATE t AS set SET b = ? WHERE id = ?",
                "UPDATE ONLY a.b.c x SET b = ? WHERE id = ?",
                "update T Set b=? wHeRe id=?",
            })
    void findsClausesAndParameters_whateverIsAroundThem(String sql) {
        FencedStatement statement = compile(sql);

        assertThat(statement.fenced().binds()).containsExactly(0, TOKEN, 1, TOKEN);
        assertThat(statement.reads().keyText(new Object[] {"b", 7})).isEqualTo("id = 7");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-- nothing",
                "SELECT 1",
                "INSERT INTO t VALUES (?)",
                "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
                "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE",
                "WITH x AS (SELECT 1) UPDATE t SET a = 1 WHERE id = 1",
                "WITH x AS (DELETE FROM t WHERE id = 1 RETURNING *) SELECT * FROM x",
                "UPDATE t SET a = 1 FROM u WHERE t.id = u.id",
                "UPDATE t SET a = b DISTINCT FROM u WHERE id = 1",
                "UPDATE t SET a = 1 WHERE CURRENT OF c",
                "UPDATE t SET a = 1 WHERE id = 1 LIMIT 1",
                "UPDATE t SET a = 1 WHERE id = 1 ORDER BY id",
                "UPDATE t SET a = 1 WHERE id = 1 FETCH FIRST 1 ROW ONLY",
                "UPDATE t SET a = 1 WHERE id = 1 OFFSET 1",
                "UPDATE t SET a = 1 WHERE id = 1 UNION SELECT 1",
                "UPDATE t SET a = 1 WHERE id = 1 WHERE id = 2",
                "UPDATE t SET a = 1 WHERE id = 1, 2",
                "UPDATE t SET a = 1 WHERE",
                "UPDATE t SET",
                "UPDATE t SET WHERE id = 1",
                "UPDATE t SET a = 1, WHERE id = 1",
                "UPDATE t SET a WHERE id = 1",
                "UPDATE t SET a = WHERE id = 1",
                "UPDATE t, u SET a = 1",
                "UPDATE t JOIN u ON true SET a = 1",
                "UPDATE t x y SET a = 1",
                "UPDATE a.b.c.d SET a = 1",
                "UPDATE ONLY (t) SET a = 1",
                "UPDATE (SELECT * FROM t) SET a = 1",
                "UPDATE t FOR PORTION OF p FROM a TO b SET a = 1",
                "UPDATE t PARTITION (p) SET a = 1",
                "UPDATE t TABLESAMPLE system (1) SET a = 1",
                "DELETE t WHERE id = 1",
                "DELETE FROM t USING u WHERE t.id = u.id",
                "DELETE FROM t WHERE CURRENT OF c",
                "DELETE FROM t, u WHERE id = 1",
                "DELETE FROM t FOR PORTION OF p FROM a TO b",
                "DELETE FROM t LIMIT 1",
                "TRUNCATE t",
                "CALL p()",
                "{call p()}",
                "{? = call p()}",
                "DO $$ BEGIN UPDATE t SET a = 1; END $$",
                "EXPLAIN ANALYZE UPDATE t SET a = 1",
                "PREPARE p AS UPDATE t SET a = 1",
                "COPY t FROM stdin",
                "DROP TABLE t",
                "UPDATE t SET a = 1; UPDATE t SET a = 2",
                "UPDATE t SET a = 1; -- x\n DELETE FROM t",
                "UPDATE t SET a = 1 WHERE id = 1) OR (1 = 1",
                "UPDATE t SET a = 1 WHERE (id = 1",
                "UPDATE t SET a = 1 WHERE (id = 1]",
                "UPDATE t SET a = 'x\\' WHERE id = 1",
                "UPDATE t SET a = 'x\\'' WHERE id = 1 --'",
                "UPDATE t SET a = E'x'\n'y\\'' WHERE id = 1",
                "UPDATE t SET a = 'x WHERE id = 1",
                "UPDATE t SET a = $$x WHERE id = 1",
                "UPDATE t SET a = $1 WHERE id = 1",
                "UPDATE t SET \"a = 1 WHERE id = 1",
                "UPDATE t SET a = 1 /* /* */ WHERE id = 1",
                "UPDATE t SET a = {d '2020-01-01'} WHERE id = 1",
                "UPDATE t SET a = 1WHERE id = 1",
                "UPDATE t SET a = 1.WHERE id = 1",
                "UPDATE t SET a = 1 \u0000 WHERE id = 1",
                "UPDATE t SET a = \\ WHERE id = 1",
                "UPDATE t SET fencing_token = 99 WHERE id = 1",
                "UPDATE t SET a = 1, FENCING_Token = 99 WHERE id = 1",
                "UPDATE t SET \"fencing_token\" = 99 WHERE id = 1",
                "UPDATE t SET U&\"fencing\\005Ftoken\" = 99 WHERE id = 1",
                "UPDATE t SET (a, fencing_token) = (1, 99) WHERE id = 1",
                "UPDATE t SET (\"fencing_token\") = ROW(99) WHERE id = 1",
                "UPDATE t SET a = 1, /* x */ fencing_token /* y */ = 99 WHERE id = 1",
                "UPDATE t SET 1 = 1 WHERE id = 1",
            })
    void refusesEverythingElse(String sql) {
        assertThatThrownBy(() -> compile(sql)).isInstanceOf(NotFenceableException.class);
    }

    @Test
    void saysWhatWasFoundWhereAndWhatToDo() {
        assertThatThrownBy(() -> compile("UPDATE t SET a = 1 FROM u WHERE t.id = u.id"))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("a second table without the fence's markers, at character 24")
                .hasMessageContaining("ResourceFence.inTransaction");
        assertThatThrownBy(() -> compile("UPDATE t SET Fencing_Token = 3"))
                .hasMessageContaining("an assignment to the token column");
    }

    @Test
    void readsOnlyTheTokenColumn_whereTheUserAssignsFromIt() {
        assertThat(compile("UPDATE t SET seen = fencing_token WHERE id = 1 AND fencing_token = 3")
                        .fenced()
                        .sql())
                .contains("seen = fencing_token, fencing_token = ?");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "id = ?                                  | id = 7",
                "? = id                                  | 7 = id",
                "t.id = ? AND status = 'open'            | t.id = 7",
                "status = 'open' AND (id = ? AND x > 1)  | id = 7",
                "x BETWEEN 1 AND 2 AND \"id\" = ?        | \"id\" = 7",
                "id = ?::uuid                            | id = 7::uuid",
                "ID=? AND CASE WHEN a OR b THEN c END    | ID = 7",
                "(id = ?)                                | id = 7",
            })
    void findsTheKey_amongTheConjuncts(String predicate, String key) {
        assertThat(compile("DELETE FROM t WHERE " + predicate).reads().keyText(new Object[] {7}))
                .isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id = ? OR x = 1",
                "(id = ? OR x = 1) AND y = 2",
                "NOT id = ?",
                "NOT (id = ?)",
                "id > ?",
                "id = ? + 1",
                "id = ANY (?)",
                "other = ?",
                "CASE WHEN x THEN id = ? AND y END",
                "x BETWEEN 1 AND id = ?",
                "id = ? IS NOT TRUE",
                "coalesce(id = ?, true)",
            })
    void goesByTheWholePredicate_whenTheKeyIsNotPlain(String predicate) {
        FencedStatement statement = compile("DELETE FROM t WHERE " + predicate);

        assertThat(statement.reads().keyText(new Object[] {7})).isNull();
        assertThat(statement.reads().diagnosis().binds()).containsExactly(0, 0);
    }

    @Test
    void readsByEveryColumnOfTheKey() {
        FencedStatement statement = FencedStatement.compile(
                Dialect.POSTGRES,
                "UPDATE t x SET a = ? WHERE tenant = ? AND s = ? AND id = 4",
                RowColumns.of(Dialect.POSTGRES, "fencing_token", List.of("tenant", "id")));

        assertThat(statement.reads().keyText(new Object[] {"a", "b", "c"})).isEqualTo("tenant = b AND id = 4");
        assertThat(statement.reads().diagnosis().sql()).contains("FROM t x\nWHERE (tenant = ?\n) AND (id = 4\n)");
        assertThat(statement.reads().diagnosis().binds()).containsExactly(1, 2, 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM t WHERE (id = 1 OR id = 2) AND fencing_token <= ?",
                "DELETE FROM t WHERE (id = 1 AND (x = 2 AND \"fencing_token\" <= ?))",
                "UPDATE t SET a = 1, \"fencing_token\" = 7 WHERE \"fencing_token\" <= 7",
                "UPDATE t SET fencing_token = ? WHERE fencing_token <= ?",
                "UPDATE s.t SET a = 1, fencing_token = ? FROM u WHERE t.id = u.id AND s.t.fencing_token <= ?",
                "UPDATE s.t AS x SET a = 1, fencing_token = ? FROM u WHERE x.id = u.id AND x.fencing_token <= ?",
                "WITH u AS (SELECT 1) DELETE FROM t USING u WHERE t.id = u.id AND t.fencing_token <= ?",
                "INSERT INTO t (a, fencing_token) VALUES (1, ?), (2, ?)",
                "INSERT INTO t (a, fencing_token) SELECT u.a, 7 FROM u",
                "INSERT INTO t (a, fencing_token) VALUES (1, ?) ON CONFLICT (a) DO NOTHING",
                "INSERT INTO t (a, fencing_token) VALUES (1, ?) ON CONFLICT (a) DO UPDATE SET a = 1, fencing_token = ?"
                        + " WHERE t.fencing_token <= ?",
            })
    void recognisesAFencedText(String sql) {
        assertThatCode(() -> FencedText.require(Dialect.POSTGRES, sql, COLUMNS)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM t",
                "DELETE FROM t WHERE id = 1",
                "DELETE FROM t WHERE (id = 1) OR (1 = 1) AND fencing_token <= ?",
                "DELETE FROM t WHERE id = 1 AND \"fencing_token\" <= ? OR true",
                "DELETE FROM t WHERE fencing_token <= ? OR true",
                "DELETE FROM t WHERE id = 1 AND \"fencing_token\" <= ? + 1",
                "DELETE FROM t WHERE id = 1 AND \"fencing_token\" >= ?",
                "DELETE FROM t WHERE id = 1 AND NOT fencing_token <= ?",
                "DELETE FROM t WHERE id = 1 AND \"other\" <= ?",
                "DELETE FROM t WHERE id = 1 -- AND fencing_token <= ?",
                "UPDATE t SET a = 1 WHERE fencing_token <= 7",
                "UPDATE t SET fencing_token = 7, a = 1 WHERE fencing_token <= 7",
                "UPDATE t SET fencing_token = 9, fencing_token = 7 WHERE fencing_token <= 7",
                "UPDATE t SET a = 1, fencing_token = a WHERE fencing_token <= 7",
                "UPDATE t SET a = 1, fencing_token = ? FROM u WHERE t.id = u.id AND fencing_token <= ?",
                "UPDATE t SET a = 1, fencing_token = ? FROM u WHERE t.id = u.id AND u.fencing_token <= ?",
                "UPDATE t AS x SET a = 1, fencing_token = ? FROM t WHERE t.id = x.id AND t.fencing_token <= ?",
                "UPDATE s.t SET a = 1, fencing_token = ? FROM u WHERE t.id = u.id AND r.t.fencing_token <= ?",
                "WITH u AS (DELETE FROM t RETURNING *) DELETE FROM t WHERE fencing_token <= ?",
                "INSERT INTO t (a) VALUES (1)",
                "INSERT INTO t (a, fencing_token) VALUES (1, ?), (2, b)",
                "INSERT INTO t (fencing_token, fencing_token) VALUES (1, ?)",
                "INSERT INTO t (a, fencing_token) SELECT *, 7 FROM u",
                "INSERT INTO t (a, fencing_token) VALUES (1, ?) ON CONFLICT (a) DO UPDATE SET fencing_token = ?",
                "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND t.fencing_token <= ? THEN DELETE",
                "SELECT 1",
            })
    void doesNotTakeAnyOtherTextForFenced(String sql) {
        assertThatThrownBy(() -> FencedText.require(Dialect.POSTGRES, sql, COLUMNS))
                .isInstanceOf(NotFenceableException.class);
    }

    @Test
    void namesBothNumbers_whenParametersDoNotMatch() {
        assertThatThrownBy(() -> compile("DELETE FROM t WHERE id = ?").requireParameters(2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("takes 1 parameters, but 2 were given");
    }
}
