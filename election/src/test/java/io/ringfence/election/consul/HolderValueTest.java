package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class HolderValueTest {

    @Test
    void bringsTheHolderBack() {
        String odd = "host \"7\" \\ ü \n";
        assertThat(HolderValue.holder(HolderValue.of(odd))).contains(odd);
        assertThat(HolderValue.of(odd)).as("the same for the life of a process").isEqualTo(HolderValue.of(odd));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "7",
                "[]",
                "{}",
                "{\"holder\":7}",
                "{\"holder\":null}",
                "{\"holder\":{}}",
                "{",
                "\0\1\2",
                "host-1"
            })
    void namesNobody_whenTheValueIsNotOurs(String value) {
        assertThat(HolderValue.holder(value)).isEmpty();
    }
}
