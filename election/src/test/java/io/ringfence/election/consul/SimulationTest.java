package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.LossReason;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The state machine in many random histories. All of them: {@code -Dsimulation.seeds=20000}. One again, as the message of a
 * failure says: {@code -Dsimulation.seed=... -Dsimulation.faults=...}; {@code -Dsimulation.log=...} lines of what happened.
 */
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("simulation.seeds", 3_000);

    /** So few histories need not show every fault and loss. */
    private static final int ENOUGH = 300;

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

        Tally tally = Histories.run(from, to, faults);

        System.out.println(faults + ": " + tally);
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
