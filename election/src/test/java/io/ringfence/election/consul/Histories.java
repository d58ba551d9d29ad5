package io.ringfence.election.consul;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Runs many histories, and tells of one that failed so that it can be repeated. */
final class Histories {
    private Histories() {}

    /** Runs one history; throws {@link AssertionError} with its log if it fails. */
    static Tally run(long seed, Faults faults) {
        try {
            return new Simulation(seed, faults, false).run().tally;
        } catch (Violation e) {
            throw failure(seed, faults, e);
        }
    }

    /** Lives through it once more and writes down what happens, which costs too much to do it always. */
    private static AssertionError failure(long seed, Faults faults, Throwable first) {
        Simulation again = new Simulation(seed, faults, true);
        String how = "seed " + seed + ", faults " + faults + ": replay with -Dsimulation.seed=" + seed
                + " -Dsimulation.faults=" + faults;
        try {
            again.run();
        } catch (Violation second) {
            return new AssertionError(second.getMessage() + "\n" + how + "\n" + again.tail(), second);
        }
        return new AssertionError(how + "; but it did not fail again", first);
    }

    /** Runs the histories of these seeds, all with the same faults, on all processors; throws for the first that fails. */
    static Tally run(long from, long to, Faults faults) {
        int threads = Runtime.getRuntime().availableProcessors();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            AtomicLong next = new AtomicLong(from);
            AtomicLong end = new AtomicLong(to);
            List<Future<Tally>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                parts.add(executor.submit(() -> part(next, end, faults)));
            }
            Tally sum = new Tally();
            for (Future<Tally> part : parts) {
                sum.add(part.get());
            }
            return end.get() == to ? sum : run(end.get(), faults);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            executor.shutdownNow();
        }
    }

    private static Tally part(AtomicLong next, AtomicLong end, Faults faults) {
        Tally sum = new Tally();
        for (long seed = next.getAndIncrement(); seed < end.get(); seed = next.getAndIncrement()) {
            try {
                sum.add(new Simulation(seed, faults, false).run().tally);
            } catch (Violation e) {
                end.accumulateAndGet(seed, Math::min);
            }
        }
        return sum;
    }
}
