package io.ringfence.election.consul;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** A process that leads the elections named by its arguments, after the address of Consul, while it allocates without end. Tells its figures and ends at a line of input. */
final class SoakHolderMain {
    private static final int KEPT = 900; // blocks of up to 64 kB, about half of the heap
    private static final int BLOCKS_AT_ONCE = 100;
    private static final long PAUSE_NANOS = Duration.ofMillis(5).toNanos();

    private static final AtomicLong LONGEST_PAUSE = new AtomicLong();
    private static final AtomicLong ALLOCATED = new AtomicLong();

    private SoakHolderMain() {}

    public static void main(String[] args) throws Exception {
        ElectionListener tell = new ElectionListener() {
            @Override
            public void onLost(Lease lease, LossReason reason) {
                System.out.println("lost " + lease.election() + " " + reason);
            }
        };
        try (ConsulElections elections =
                ConsulElections.builder(args[0]).listener(tell).build()) {
            List<Lease> leases = new ArrayList<>();
            for (String name : List.of(args).subList(1, args.length)) {
                leases.add(elections.election(name).acquire());
            }
            System.out.println("holds " + leases.size());
            start(SoakHolderMain::allocate);
            start(SoakHolderMain::measurePauses);
            String unused = new Scanner(System.in, StandardCharsets.UTF_8).nextLine();
            System.out.println("held " + leases.stream().filter(Lease::isHeld).count() + ": " + figures());
        }
    }

    private static void start(Runnable job) {
        Thread thread = new Thread(job);
        thread.setDaemon(true);
        thread.start();
    }

    /** Some of the blocks get old, so that the old generation fills up and is collected too. */
    private static void allocate() {
        byte[][] kept = new byte[KEPT][];
        ThreadLocalRandom random = ThreadLocalRandom.current();
        while (true) {
            for (int i = 0; i < BLOCKS_AT_ONCE; i++) {
                byte[] block = new byte[1 + random.nextInt(64 * 1024)];
                ALLOCATED.addAndGet(block.length);
                kept[random.nextInt(KEPT)] = block;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static void measurePauses() {
        long before = System.nanoTime();
        while (true) {
            LockSupport.parkNanos(PAUSE_NANOS);
            long now = System.nanoTime();
            LONGEST_PAUSE.accumulateAndGet(now - before - PAUSE_NANOS, Math::max);
            before = now;
        }
    }

    private static String figures() {
        long own = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ringfence-"))
                .count();
        String collections = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(SoakHolderMain::figures)
                .collect(Collectors.joining(", "));
        return "longest pause of a thread "
                + Duration.ofNanos(LONGEST_PAUSE.get()).toMillis() + " ms; "
                + ALLOCATED.get() / 1_000_000 + " MB allocated; "
                + collections + "; " + own + " threads of ours";
    }

    private static String figures(GarbageCollectorMXBean collector) {
        return collector.getCollectionCount() + " collections by " + collector.getName() + " in "
                + collector.getCollectionTime() + " ms";
    }
}
