package io.ringfence.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaderLoopOptionsTest {
    private final LeaderLoop.Options options = LeaderLoop.Options.defaults();

    @Test
    void hasTheDocumentedDefaults() {
        assertThat(options.stopTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.firstPause()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.longestPause()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.listener()).isEmpty();
    }

    @Test
    void changesACopy() {
        ElectionListener listener = new ElectionListener() {};
        LeaderLoop.Options changed = options.stopTimeout(Duration.ofSeconds(5))
                .backoff(Duration.ofMillis(1), Duration.ofMillis(2))
                .listener(listener);
        assertThat(changed.stopTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(changed.firstPause()).isEqualTo(Duration.ofMillis(1));
        assertThat(changed.longestPause()).isEqualTo(Duration.ofMillis(2));
        assertThat(changed.listener()).containsSame(listener);
        assertThat(changed).hasToString("Options[stopTimeout=PT5S, backoff=PT0.001S..PT0.002S]");
        assertThat(options.stopTimeout()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void refusesWhatIsOutOfRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.stopTimeout(Duration.ZERO))
                .withMessageContaining("stopTimeout");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.stopTimeout(Duration.ofHours(25)))
                .withMessageContaining("PT25H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.backoff(Duration.ZERO, Duration.ofSeconds(1)))
                .withMessageContaining("first");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.backoff(Duration.ofSeconds(3), Duration.ofSeconds(2)))
                .withMessageContaining("PT3S")
                .withMessageContaining("PT2S");
    }
}
