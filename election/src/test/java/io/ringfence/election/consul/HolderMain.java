package io.ringfence.election.consul;

import io.ringfence.election.Election;
import io.ringfence.election.Lease;
import java.time.Duration;
import java.util.Scanner;

/** A process that leads, with failure detection if it is given a fourth argument, and tells what the first call says that starts after it was frozen. Ends with its input. */
final class HolderMain {
    private static final long GAP_NANOS = Duration.ofSeconds(2).toNanos();

    private HolderMain() {}

    public static void main(String[] args) throws Exception {
        Thread ender = new Thread(() -> {
            Scanner input = new Scanner(System.in, java.nio.charset.StandardCharsets.UTF_8);
            while (input.hasNextLine()) {
                input.nextLine();
            }
            System.exit(0);
        });
        ender.setDaemon(true);
        ender.start();
        ConsulElections.Builder builder = ConsulElections.builder(args[0])
                .sessionTtl(Duration.parse(args[2]))
                .lockDelay(Duration.ZERO);
        if (args.length > 3) {
            builder.failureDetection(Duration.parse(args[3]), args[1]);
        }
        try (ConsulElections elections = builder.build()) {
            Election election = elections.election(args[1]);
            Lease lease = election.acquire();
            System.out.println("leads " + lease.requireToken());
            boolean held = heldAfterTheFreeze(lease);
            System.out.println("woke " + (held ? "held" : "lost"));
            // Any renewal that was on its way is answered by now.
            Thread.sleep(3_000);
            System.out.println("later "
                    + (lease.isHeld() ? "held" : "lost " + lease.lossReason().orElseThrow()));
            System.out.println("again " + election.acquire().requireToken());
        }
    }

    /** Asks without a pause until a freeze shows as a gap between the clocks; answers the first call that began after it. */
    private static boolean heldAfterTheFreeze(Lease lease) {
        long last = System.nanoTime();
        while (true) {
            long before = System.nanoTime();
            boolean held = lease.isHeld();
            long after = System.nanoTime();
            if (before - last > GAP_NANOS) {
                return held;
            }
            if (after - before > GAP_NANOS) {
                return lease.isHeld();
            }
            last = after;
        }
    }
}
