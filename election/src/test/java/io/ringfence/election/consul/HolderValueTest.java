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
        assertThat(HolderValue.holder(HolderValue.of(odd, 7))).contains(odd);
        assertThat(HolderValue.of(odd, 7))
                .as("the same for the life of a process")
                .isEqualTo(HolderValue.of(odd, 7));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65_535})
    void bringsTheEpochBack(int epoch) {
        assertThat(HolderValue.epoch(HolderValue.of("me", epoch))).isEqualTo(epoch);
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                "{\"epoch\":7}",
                "{\"holder\":\"me\"}",
                "{\"holder\":\"me\",\"epoch\":65536}",
                "{\"holder\":\"me\",\"epoch\":-1}",
                "{\"holder\":\"me\",\"epoch\":1e3}",
                "{\"holder\":\"me\",\"epoch\":7.0}",
                "{\"holder\":\"me\",\"epoch\":99999999999}",
                "{\"holder\":\"me\",\"epoch\":[7]}"
            })
    void isEpochZero_whenTheValueIsNotOurs(String value) {
        assertThat(HolderValue.epoch(value)).isZero();
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
