package io.ringfence.examples;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * The election alone: one process at a time does the work, with no database in sight.
 *
 * <p>Without a fence a frozen leader may go on working for a moment after it woke up. That is fine for work that may run
 * twice, such as sending a gauge, and not for anything that must not.
 */
public final class ElectionOnly {
    private ElectionOnly() {}

    /**
     * Runs until it is ended.
     *
     * @param args the address of a Consul agent, such as {@code http://127.0.0.1:8500}
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        lead(args[0]);
    }

    private static void lead(String consul) throws InterruptedException {
        try (Elections elections = ConsulElections.builder(consul).build()) {
            Election election = elections.election("heartbeat");
            while (true) {
                try (Lease lease = election.acquire()) { // waits until this process leads
                    while (lease.isHeld()) {
                        beat(lease);
                    }
                }
            }
        }
    }

    /** The same, with the loop left to the library: it also interrupts the work when the lease is lost. */
    static void leadInLoop(Elections elections, CountDownLatch shutdown) throws InterruptedException {
        try (LeaderLoop loop = elections.election("heartbeat").lead(lease -> {
            while (lease.isHeld()) {
                beat(lease);
            }
        })) {
            System.out.println("takes part in " + loop.election());
            shutdown.await();
        }
    }

    private static void beat(Lease lease) throws InterruptedException {
        System.out.println("leading with token " + lease.fencingToken());
        Thread.sleep(Duration.ofSeconds(1).toMillis());
    }
}
