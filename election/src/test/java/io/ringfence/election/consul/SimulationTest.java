package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many short histories with random faults; the message of a failure names the seed, which repeats it. */
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("simulation.seeds", 150);

    @ParameterizedTest
    @EnumSource(Simulation.Faults.class)
    void rulesHold(Simulation.Faults faults) {
        int grants = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            grants += run(seed, faults);
        }
        assertThat(grants).isGreaterThan(SEEDS);
    }

    static int run(long seed, Simulation.Faults faults) {
        Simulation simulation = new Simulation(seed, faults);
        try {
            simulation.run();
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + " with faults " + faults, e);
        }
        return simulation.grants;
    }
}
