package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlNameTest {

    @ParameterizedTest
    @CsvSource({
        "invoice, \"invoice\"",
        "Billing.INVOICE, \"billing\".\"invoice\"",
        "'\"In\"\"voice\"', '\"In\"\"voice\"'",
        "order, \"order\"",
    })
    void foldsAndQuotes_asTheServerDoes(String written, String quoted) {
        assertThat(SqlName.parse(written, 3).quoted()).isEqualTo(quoted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a;", "a.", ".a", "a.b.c.d", "1a", "'a'", "\"", "\"\"", "a--b", "a(", "?"})
    void refusesEverythingElse(String written) {
        assertThatThrownBy(() -> SqlName.parse(written, 3)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void refusesNamesThatTheServerWouldCut() {
        assertThatThrownBy(() -> SqlName.parse("x".repeat(64), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("63 bytes");
    }
}
