package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.function.BiFunction;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulator finds bugs: each is planted into the source code of this package, compiled, and looked for. */
class PlantedBugsTest {
    /** All bugs are found in fewer histories than this; most of them in a few dozen. */
    private static final int UNTIL_FOUND = 5_000;

    private static final int UNCHANGED = 1_000;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(PlantedBug.class)
    void findsTheBug(PlantedBug bug) throws Exception {
        MutatedPackage code = new MutatedPackage();
        bug.plantIn(code);

        String violation = firstViolation(code, bug.faults, UNTIL_FOUND);

        assertThat(bug.rules).as(violation).anyMatch(rule -> violation.startsWith(rule + ": "));
        assertThat(violation).contains("replay with -Dsimulation.seed=", "-Dsimulation.faults=" + bug.faults);
    }

    @ParameterizedTest
    @EnumSource(Faults.class)
    void findsNothing_whenTheSameCodeIsCompiledUnchanged(Faults faults) throws Exception {
        MutatedPackage code = new MutatedPackage();
        for (PlantedBug bug : PlantedBug.values()) {
            bug.takeInto(code);
        }
        assertThat(firstViolation(code, faults, UNCHANGED)).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private String firstViolation(MutatedPackage code, Faults faults, int most) throws Exception {
        BiFunction<String, Integer, String> histories = code.load(directory, FirstViolation.class, BiFunction.class);
        return histories.apply(faults.name(), most);
    }
}
