package io.ringfence.fencing.corpus;

import io.ringfence.fencing.corpus.FenceCheck.Verdict;
import io.ringfence.servers.PostgresServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Makes mutants of the corpus and {@linkplain FenceCheck checks} them, on two connections. A mutant depends on the seed and
 * on its number only.
 */
final class Fuzz implements AutoCloseable {
    private static final int WORKERS = 2;

    private final List<CorpusTables> tables = new ArrayList<>();

    Fuzz(PostgresServer server) throws Exception {
        for (int i = 0; i < WORKERS; i++) {
            tables.add(CorpusTables.create(server.createDatabase().dataSource()));
        }
    }

    /**
     * Checks the mutants of these numbers.
     *
     * @param rules what is looked for; violations of other rules count as {@link Verdict#RAN}
     * @return how many came to which end
     * @throws FenceViolation at the first one that violates one of these rules
     */
    Map<Verdict, Integer> run(StatementCompiler compiler, long seed, long first, long count, Predicate<String> rules)
            throws Exception {
        AtomicLong next = new AtomicLong(first);
        AtomicLong end = new AtomicLong(first + count);
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        try {
            List<Future<Map<Verdict, Integer>>> parts = new ArrayList<>();
            for (CorpusTables own : tables) {
                FenceCheck check = new FenceCheck(compiler, own);
                parts.add(workers.submit(() -> work(check, seed, next, end, rules)));
            }
            Map<Verdict, Integer> sum = new EnumMap<>(Verdict.class);
            for (Future<Map<Verdict, Integer>> part : parts) {
                part.get().forEach((verdict, number) -> sum.merge(verdict, number, Integer::sum));
            }
            return sum;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FenceViolation violation) {
                throw violation;
            }
            throw e;
        } finally {
            workers.shutdown();
            workers.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    private static Map<Verdict, Integer> work(
            FenceCheck check, long seed, AtomicLong next, AtomicLong end, Predicate<String> rules) throws Exception {
        Map<Verdict, Integer> verdicts = new EnumMap<>(Verdict.class);
        for (long number = next.getAndIncrement(); number < end.get(); number = next.getAndIncrement()) {
            Verdict verdict = Verdict.RAN;
            try {
                verdict = one(check, seed, number);
            } catch (FenceViolation e) {
                if (rules.test(e.rule())) {
                    end.set(0);
                    throw e;
                }
            }
            verdicts.merge(verdict, 1, Integer::sum);
        }
        return verdicts;
    }

    private static Verdict one(FenceCheck check, long seed, long number) throws SQLException {
        SplittableRandom random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + number);
        int base = random.nextInt(Mutator.BASES.size());
        boolean lower = random.nextBoolean();
        List<Piece> mutant = Mutator.mutate(Mutator.BASES.get(base), random);
        try {
            return check.check(mutant, lower);
        } catch (FenceViolation e) {
            String name = Corpus.fenced().get(base).name();
            throw e.at(
                    "Mutant " + number + " of seed " + seed + ", made from '" + name + "': ",
                    "\nmutant: " + Piece.sql(mutant) + "\nparameters: " + Piece.parameters(mutant)
                            + "\nreplay with -Dfuzz.seed=" + seed + " -Dfuzz.first=" + number + " -Dfuzz.mutants=1");
        }
    }

    @Override
    public void close() throws SQLException {
        for (CorpusTables own : tables) {
            own.close();
        }
    }
}
