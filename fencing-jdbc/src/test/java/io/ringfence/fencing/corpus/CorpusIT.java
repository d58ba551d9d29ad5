package io.ringfence.fencing.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** On a real server each fenced statement of the corpus is valid, and writes what it should and no more. */
@ExtendWith(SharedServers.class)
@TestInstance(Lifecycle.PER_CLASS)
class CorpusIT {
    private CorpusTables tables;

    @BeforeAll
    void create(PostgresDatabase database) throws SQLException {
        tables = CorpusTables.create(database.dataSource());
    }

    @AfterAll
    void close() throws SQLException {
        tables.close();
    }

    private Outcome plain(CorpusStatement statement) throws SQLException {
        String sql = Piece.plain(Piece.of(statement), CorpusTables.FRESH);
        return tables.runPlain(sql, statement.parameters(), CorpusTables.FRESH);
    }

    private Outcome fenced(CorpusStatement statement, long token) throws SQLException {
        return tables.run(FencedSql.compile(statement.sql()), statement.parameters(), token, true);
    }

    @ParameterizedTest
    @MethodSource("io.ringfence.fencing.corpus.Corpus#fenced")
    void isValidWithoutTheFence_andWrites(CorpusStatement statement) throws SQLException {
        Outcome before = tables.look(CorpusTables.FRESH);

        Outcome plain = plain(statement);

        assertThat(plain.rejection()).isNull();
        assertThat(plain.parameters()).isEqualTo(statement.parameters().size());
        boolean nothing = statement.name().equals("do nothing");
        assertThat(plain.contents().equals(before.contents())).isEqualTo(nothing);
    }

    @ParameterizedTest
    @MethodSource("io.ringfence.fencing.corpus.Corpus#fenced")
    void aStaleTokenChangesNoRowThatIsThere(CorpusStatement statement) throws SQLException {
        Outcome before = tables.look(CorpusTables.STALE);

        Outcome after = fenced(statement, CorpusTables.STALE);

        assertThat(after.rejection()).isNull();
        assertThat(after.old()).isEqualTo(before.old());
        assertThat(after.foreignTokens()).isZero();
    }

    @ParameterizedTest
    @MethodSource("io.ringfence.fencing.corpus.Corpus#fenced")
    void aTokenBetweenChangesNoRowWithAHigherOne(CorpusStatement statement) throws SQLException {
        Outcome before = tables.look(CorpusTables.BETWEEN);

        Outcome after = fenced(statement, CorpusTables.BETWEEN);

        assertThat(after.rejection()).isNull();
        assertThat(after.kept()).isEqualTo(before.kept());
        assertThat(after.foreignTokens()).isZero();
    }

    @ParameterizedTest
    @MethodSource("io.ringfence.fencing.corpus.Corpus#fenced")
    void aFreshTokenWritesWhatTheStatementSays_andItself(CorpusStatement statement) throws SQLException {
        Outcome plain = plain(statement);

        Outcome fenced = fenced(statement, CorpusTables.FRESH);

        assertThat(fenced.rejection()).isNull();
        assertThat(fenced.contents()).isEqualTo(plain.contents());
        assertThat(List.of(fenced.written(), fenced.old())).isEqualTo(List.of(plain.written(), plain.old()));
        assertThat(fenced.foreignTokens()).isZero();
    }
}
