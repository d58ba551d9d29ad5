package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.LossReason;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The state machine in many random histories. All of them: {@code -Dsimulation.seeds=20000}. One again, as the message of a
 * failure says: {@code -Dsimulation.seed=... -Dsimulation.faults=...}; {@code -Dsimulation.log=...} lines of what happened.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("simulation.seeds", 3_000);

    /** So few histories need not show every fault and loss. */
    private static final int ENOUGH = 300;

    private long histories;
    private long nanos;
    private Duration processorTime = Duration.ZERO;

    @AfterAll
    void tellTheTime() {
        System.out.println("All: " + speed(histories, nanos) + "; "
                + processorTime.toSeconds() + " s of processor time, on "
                + Runtime.getRuntime().availableProcessors() + " processors");
    }

    static Stream<Faults> faults() {
        String wanted = System.getProperty("simulation.faults");
        return Arrays.stream(Faults.values())
                .filter(faults -> wanted == null || faults.name().equals(wanted));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void rulesHold(Faults faults) {
        Long seed = Long.getLong("simulation.seed");
        long from = seed == null ? 0 : seed;
        long to = seed == null ? (SEEDS + Faults.values().length - 1) / Faults.values().length : seed + 1;

        Duration before = processorTime();
        long began = System.nanoTime();
        Tally tally = Histories.run(from, to, faults);
        long took = System.nanoTime() - began;
        histories += tally.histories;
        nanos += took;
        processorTime = processorTime.plus(processorTime()).minus(before);

        System.out.println(faults + ": " + speed(tally.histories, took) + "; " + tally);
        if (tally.histories >= ENOUGH) {
            assertThat(tally.grants).as("grants").isGreaterThan(8 * tally.histories);
            for (FaultKind kind : faults.kinds()) {
                assertThat(tally.faults(kind)).as("%s", kind).isGreaterThan(tally.histories / 20);
            }
            for (LossReason reason : losses(faults)) {
                assertThat(tally.losses(reason)).as("%s", reason).isPositive();
            }
        }
    }

    /** What this JVM has used, which tells how fast it would be on a machine that is not shared. */
    private static Duration processorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private static String speed(long histories, long nanos) {
        return String.format(
                Locale.ROOT,
                "%d histories in %.1f s, %.0f a second",
                histories,
                nanos / 1e9,
                histories * 1e9 / Math.max(1, nanos));
    }

    private static Set<LossReason> losses(Faults faults) {
        return switch (faults) {
            case NONE -> EnumSet.of(LossReason.RELEASED);
            case NETWORK, CLOCKS ->
                EnumSet.of(
                        LossReason.RELEASED,
                        LossReason.SHUTDOWN,
                        LossReason.DEADLINE_EXCEEDED,
                        LossReason.ACCESS_DENIED);
            case SESSIONS -> EnumSet.complementOf(EnumSet.of(LossReason.LOCK_TAKEN, LossReason.LOCK_DELETED));
            case HANDS, RESTORE, REBUILD -> EnumSet.allOf(LossReason.class);
        };
    }

    @ParameterizedTest
    @EnumSource(Faults.class)
    void repeatsAHistoryExactly(Faults faults) {
        for (long seed = 0; seed < 5; seed++) {
            String first = new Simulation(seed, faults, true).run().log();
            assertThat(new Simulation(seed, faults, true).run().log()).isEqualTo(first);
        }
    }
}
