package io.ringfence.fencing.corpus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ringfence.servers.PostgresServer;
import io.ringfence.servers.SharedServers;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The mutants find bugs: each is planted into the source code of the compiler, compiled, and looked for. */
@ExtendWith(SharedServers.class)
@TestInstance(Lifecycle.PER_CLASS)
class PlantedBugsIT {
    /** Every bug is found among fewer mutants than this, most of them among a few hundred. */
    private static final int UNTIL_FOUND = 20_000;

    private static final int UNCHANGED = 2_000;
    private static final long SEED = 7;

    private Fuzz fuzz;

    @TempDir
    private Path directory;

    @BeforeAll
    void connect(PostgresServer server) throws Exception {
        fuzz = new Fuzz(server);
    }

    @AfterAll
    void close() throws Exception {
        fuzz.close();
    }

    @ParameterizedTest
    @EnumSource(PlantedBug.class)
    void findsTheBug(PlantedBug bug) throws Exception {
        MutatedCompiler code = new MutatedCompiler();
        bug.plantIn(code);
        StatementCompiler compiler = code.load(directory);

        Throwable found = catchThrowable(() -> fuzz.run(compiler, SEED, 0, UNTIL_FOUND, bug.rule::equals));

        assertThat(found)
                .isInstanceOf(FenceViolation.class)
                .hasMessageContaining(bug.rule)
                .hasMessageContaining("replay with -Dfuzz.seed=" + SEED);
    }

    @Test
    void findsNothing_whenTheSameCodeIsCompiledUnchanged() throws Exception {
        MutatedCompiler code = new MutatedCompiler();
        for (PlantedBug bug : PlantedBug.values()) {
            bug.takeInto(code);
        }
        StatementCompiler compiler = code.load(directory);

        assertThat(fuzz.run(compiler, SEED, 0, UNCHANGED, rule -> true).values().stream()
                        .mapToInt(number -> number))
                .isNotEmpty();
    }
}
