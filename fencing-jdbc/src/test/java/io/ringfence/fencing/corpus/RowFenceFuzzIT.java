package io.ringfence.fencing.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.fencing.corpus.FenceCheck.Verdict;
import io.ringfence.servers.PostgresServer;
import io.ringfence.servers.SharedServers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** No mutant of the corpus gets past its fence, and none does anything else because of it. */
@ExtendWith(SharedServers.class)
class RowFenceFuzzIT {
    private static final Logger LOG = LoggerFactory.getLogger(RowFenceFuzzIT.class);
    private static final long SEED = Long.getLong("fuzz.seed", 1);
    private static final long FIRST = Long.getLong("fuzz.first", 0);
    private static final Long ASKED = Long.getLong("fuzz.mutants");
    private static final long MUTANTS = 70_000;
    private static final int ENOUGH = 20_000;

    @Test
    void noMutantWritesOverAHigherToken(PostgresServer server) throws Exception {
        long began = System.nanoTime();
        Map<Verdict, Integer> verdicts;
        try (Fuzz fuzz = new Fuzz(server)) {
            verdicts = fuzz.run(FencedSql::compile, SEED, FIRST, ASKED == null ? MUTANTS : ASKED, rule -> true);
        }
        LOG.info("Seed {}: {} in {} ms", SEED, verdicts, (System.nanoTime() - began) / 1_000_000);
        if (ASKED == null) {
            int changed = verdicts.getOrDefault(Verdict.CHANGED, 0);
            int ran = changed + verdicts.getOrDefault(Verdict.RAN, 0) + verdicts.getOrDefault(Verdict.ADDED, 0);
            assertThat(ran).as("mutants that ran, of %s", verdicts).isGreaterThanOrEqualTo(ENOUGH);
            assertThat(changed).as("mutants that changed rows, of %s", verdicts).isGreaterThanOrEqualTo(ENOUGH / 2);
        }
    }
}
