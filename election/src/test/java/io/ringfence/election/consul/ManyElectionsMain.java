package io.ringfence.election.consul;

import io.ringfence.election.Lease;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Scanner;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process that holds many elections and waits for as many others. It does what the lines of its input say, reports what
 * that costs, and ends with its input.
 */
final class ManyElectionsMain {
    private static final int CALLERS = 8;

    private final ConsulElections elections;
    private final int count;
    private final Queue<Lease> leases = new ConcurrentLinkedQueue<>();
    private final AtomicLong leastRemaining = new AtomicLong(Long.MAX_VALUE);

    private ManyElectionsMain(ConsulElections elections, int count) {
        this.elections = elections;
        this.count = count;
    }

    public static void main(String[] args) throws Exception {
        try (ConsulElections elections =
                ConsulElections.builder(args[0]).keyPrefix(args[1]).build()) {
            new ManyElectionsMain(elections, Integer.parseInt(args[2])).run();
        }
        System.exit(0);
    }

    private void run() throws InterruptedException {
        watchRemaining();
        Scanner input = new Scanner(System.in, StandardCharsets.UTF_8);
        while (input.hasNextLine()) {
            switch (input.nextLine()) {
                case "hold" -> hold();
                case "wait" -> waitForOthers();
                case "report" -> report();
                default -> throw new IllegalArgumentException("no such command");
            }
        }
    }

    private void hold() throws InterruptedException {
        long began = System.nanoTime();
        CountDownLatch held = new CountDownLatch(CALLERS);
        for (int caller = 0; caller < CALLERS; caller++) {
            int first = caller;
            start("holder-" + caller, () -> {
                for (int i = first; i < count; i += CALLERS) {
                    leases.add(elections.election("held/" + i).acquire());
                }
                held.countDown();
                return null;
            });
        }
        held.await();
        System.out.println("held " + millisSince(began));
    }

    private void waitForOthers() throws InterruptedException {
        List<Thread> callers = new ArrayList<>();
        CountDownLatch led = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            String name = "taken/" + i;
            callers.add(start("caller-" + i, () -> {
                leases.add(elections.election(name).acquire());
                led.countDown();
                return null;
            }));
        }
        while (callers.stream().anyMatch(caller -> caller.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        System.out.println("waiting");
        start("witness", () -> {
            led.await();
            System.out.println("led " + count);
            return null;
        });
    }

    private void report() {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024;
        long threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ringfence-"))
                .count();
        System.out.println("report " + threads + " " + heap + " "
                + leastRemaining + " "
                + leases.stream().filter(Lease::isHeld).count());
    }

    /** Remembers how close the leases came to their deadline: a renewal that is late shows here. */
    private void watchRemaining() {
        start("remaining", () -> {
            while (true) {
                Lease lease = leases.peek();
                if (lease != null) {
                    leastRemaining.accumulateAndGet(lease.remaining().toMillis(), Math::min);
                }
                Thread.sleep(10);
            }
        });
    }

    private static long millisSince(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos).toMillis();
    }

    private static Thread start(String name, java.util.concurrent.Callable<?> action) {
        Thread thread = new Thread(
                null,
                () -> {
                    try {
                        action.call();
                    } catch (Exception e) {
                        System.out.println("failed " + e);
                    }
                },
                name,
                64 * 1024);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
