package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class ChildJvmIT {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void talksToAChild_thatHasItsOptionsAndArguments() {
        try (ChildJvm child = ChildJvm.start(Echo.class, List.of("-Decho.prefix=> "), "first")) {
            assertThat(child.awaitLine("first", PATIENCE)).isEqualTo("> first");
            child.send("second");
            assertThat(child.awaitLine("second", PATIENCE)).isEqualTo("> second");
            child.send("exit 3");
            assertThat(child.awaitExit(PATIENCE)).isEqualTo(3);
            assertThat(child.lines()).containsExactly("> first", "> second", "leaving");
        }
    }

    @Test
    void tellsListenersAllLinesInOrder_whenTheyCameLate() {
        try (ChildJvm child = ChildJvm.start(Echo.class, List.of("-Decho.prefix="), "1", "2")) {
            child.awaitLine("2", PATIENCE);
            Queue<String> told = new ConcurrentLinkedQueue<>();
            child.onLine(told::add);
            child.send("3");
            await().untilAsserted(() -> assertThat(told).containsExactly("1", "2", "3"));
        }
    }

    @Test
    void isSilent_whileFrozen_andGoesOnWhenResumed() {
        try (ChildJvm child = ChildJvm.start(Echo.class, List.of("-Decho.prefix="), "ready")) {
            child.awaitLine("ready", PATIENCE);
            child.freeze();
            child.send("frozen");
            assertThatThrownBy(() -> child.awaitLine("frozen", Duration.ofMillis(500)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("did not come in")
                    .hasMessageContaining("ready");
            child.resume();
            assertThat(child.awaitLine("frozen", PATIENCE)).isEqualTo("frozen");
        }
    }

    @Test
    void saysWhatTheChildPrinted_whenItExitsBeforeTheLine() {
        try (ChildJvm child = ChildJvm.start(Echo.class, List.of("-Decho.prefix="), "ready")) {
            child.send("exit 0");
            assertThatThrownBy(() -> child.awaitLine("never", PATIENCE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("before the exit")
                    .hasMessageContaining("leaving");
        }
    }

    @Test
    void isDead_whenKilled_evenIfFrozen() {
        ChildJvm child = ChildJvm.start(Echo.class, List.of("-Decho.prefix="), "ready");
        try (child) {
            child.awaitLine("ready", PATIENCE);
            child.freeze();
        }
        assertThat(ProcessHandle.of(child.pid())).isEmpty();
        assertThat(child.awaitExit(PATIENCE)).isEqualTo(128 + 9);
    }

    /** Prints its arguments and then what it reads, until its input ends. */
    static final class Echo {

        public static void main(String[] args) throws IOException {
            String prefix = System.getProperty("echo.prefix");
            for (String arg : args) {
                System.out.println(prefix + arg);
            }
            try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    if (line.startsWith("exit ")) {
                        System.err.println("leaving");
                        System.exit(Integer.parseInt(line.substring("exit ".length())));
                    }
                    System.out.println(prefix + line);
                }
            }
        }
    }
}
