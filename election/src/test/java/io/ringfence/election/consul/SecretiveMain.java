package io.ringfence.election.consul;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A process that logs at the finest level, has a token that nobody may see, and prints all that it can get hold of. */
final class SecretiveMain {
    private SecretiveMain() {}

    public static void main(String[] args) throws Exception {
        Logger root = Logger.getLogger("");
        root.setLevel(Level.ALL);
        for (Handler handler : root.getHandlers()) {
            handler.setLevel(Level.ALL);
        }
        String secret = new Scanner(System.in, StandardCharsets.UTF_8).nextLine();
        lead(ConsulElections.builder(args[0]).lockDelay(Duration.ZERO).aclToken(() -> secret), args[1]);
        failToLead(ConsulElections.builder(args[0]).aclToken(() -> "x" + secret), args[1]);
        failToLead(ConsulElections.builder("http://127.0.0.1:1").aclToken(() -> secret), args[1]);
        failToLead(
                ConsulElections.builder(args[0]).aclToken(() -> {
                    throw new IllegalStateException("no token today");
                }),
                args[1]);
        System.out.println("done");
        System.exit(0);
    }

    private static void lead(ConsulElections.Builder builder, String name) throws Exception {
        try (ConsulElections elections = builder.build()) {
            Election election = elections.election(name);
            Lease lease = election.acquire();
            System.out.println(elections + " " + election + " " + lease + " " + lease.requireToken() + " "
                    + lease.lost() + " " + lease.confirm() + " " + election.leader());
            System.out.println(
                    "until lost: " + lease.lost().toCompletableFuture().get());
            lease.close();
            System.out.println(lease + " " + lease.lossReason());
            CountDownLatch worked = new CountDownLatch(1);
            try (LeaderLoop loop = election.lead(held -> {
                System.out.println(held);
                worked.countDown();
            })) {
                worked.await();
                System.out.println(loop + " " + LeaderLoop.Options.defaults());
            }
        }
    }

    private static void failToLead(ConsulElections.Builder builder, String name) throws InterruptedException {
        try (ConsulElections elections = builder.build()) {
            try (Lease lease = elections.election(name).acquire()) {
                System.out.println("led with " + lease);
            }
        } catch (ElectionException e) {
            e.printStackTrace(System.out);
        }
    }
}
