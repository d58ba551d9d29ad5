package io.ringfence.election.consul;

import io.ringfence.election.Elections;
import io.ringfence.election.Lease;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicInteger;

/** A process that leads at the default settings and does nothing, and tells at the first line of its input how it went. */
final class IdleMain {
    private IdleMain() {}

    public static void main(String[] args) throws Exception {
        AtomicInteger losses = new AtomicInteger();
        try (Elections elections = ConsulElections.builder(args[0]).build();
                Lease lease = elections.election(args[1]).acquire()) {
            lease.lost().thenAccept(reason -> losses.incrementAndGet());
            System.out.println("leads with " + lease.requireToken());
            boolean told = new Scanner(System.in, StandardCharsets.UTF_8).hasNextLine();
            System.out.println((told && lease.isHeld() ? "held, " : "lost, ")
                    + (losses.get() == 0 ? "no loss" : losses + " losses"));
        }
    }
}
