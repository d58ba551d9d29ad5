package io.ringfence.fencing.corpus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each statement of the corpus becomes exactly the text that is written there, or is refused as it says. */
class CorpusTest {

    static List<CorpusStatement> statements() {
        return Corpus.all();
    }

    @ParameterizedTest
    @MethodSource("statements")
    void isFencedOrRefused_asTheCorpusSays(CorpusStatement statement) {
        if (statement.isFenced()) {
            assertThat(FencedSql.compile(statement.sql()).sql()).isEqualTo(statement.fenced());
        } else {
            assertThatThrownBy(() -> FencedSql.compile(statement.sql()))
                    .isInstanceOf(NotFenceableException.class)
                    .hasMessageContaining(statement.refusal());
        }
    }

    @ParameterizedTest
    @MethodSource("io.ringfence.fencing.corpus.Corpus#fenced")
    void keepsEachParameterInItsPlace(CorpusStatement statement) {
        FencedSql fenced = FencedSql.compile(statement.sql());

        List<Integer> callers = new ArrayList<>(fenced.binds());
        callers.removeIf(index -> index == FencedSql.TOKEN);
        assertThat(callers)
                .containsExactlyElementsOf(
                        IntStream.range(0, statement.parameters().size())
                                .boxed()
                                .toList());
        assertThat(fenced.binds()).contains(FencedSql.TOKEN);
    }

    @Test
    void coversEnough() {
        assertThat(Corpus.fenced()).hasSizeGreaterThanOrEqualTo(150);
        assertThat(Corpus.all()).hasSizeGreaterThanOrEqualTo(350);
    }
}
