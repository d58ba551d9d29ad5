package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BackendsTest {

    @Test
    void isAuto_whenNothingIsSaid() {
        assertThat(Backends.parse(null)).isEqualTo(Backends.AUTO);
        assertThat(Backends.parse("")).isEqualTo(Backends.AUTO);
    }

    @Test
    void takesItsThreeValues_inAnyCase() {
        assertThat(Backends.parse("auto")).isEqualTo(Backends.AUTO);
        assertThat(Backends.parse("Docker")).isEqualTo(Backends.DOCKER);
        assertThat(Backends.parse("LOCAL")).isEqualTo(Backends.LOCAL);
    }

    @Test
    void refusesOtherValues_andNamesThoseItTakes() {
        assertThatThrownBy(() -> Backends.parse("podman"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("-Dringfence.backends=podman is none of auto, docker and local");
    }
}
