package io.ringfence.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Three Consul servers that form one cluster, each in a process of its own that can be frozen, killed and restarted.
 *
 * <p>A started cluster has a leader, and all servers are healthy voters: it can lose any one of them. It is set up for
 * tests: a new leader is elected after two to four seconds, and a server that is gone stays a member, so that it counts
 * again soon after its return. Everything else is as {@link ConsulServer} describes it.
 *
 * <p>Thread-safe, except that a server should be stopped and restarted by one thread at a time.
 */
public final class ConsulCluster implements AutoCloseable {

    private static final int SIZE = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final String LEADER = "/v1/status/leader";
    private static final String HEALTH = "/v1/operator/autopilot/health";
    // with three voters it is 1 if and only if all of them are healthy
    private static final Pattern ALL_HEALTHY = Pattern.compile("\"FailureTolerance\": *1\\b");

    private final List<ConsulServer> servers;

    private ConsulCluster(List<ConsulServer> servers) {
        this.servers = servers;
    }

    /**
     * Starts a cluster and waits until all servers are healthy voters, which takes three to five seconds.
     *
     * @param extraConfigJson JSON objects in the format of Consul's configuration files, for each server; later ones win
     * @throws IllegalStateException if there is no consul executable, or a server does not start
     */
    public static ConsulCluster start(String... extraConfigJson) {
        List<ConsulProcess> members = ConsulProcess.start(SIZE, ports -> {
            List<String> config = new ArrayList<>(List.of(config(ports)));
            config.addAll(List.of(extraConfigJson));
            return config;
        });
        ConsulCluster cluster =
                new ConsulCluster(members.stream().map(ConsulServer::new).toList());
        cluster.awaitHealthy();
        return cluster;
    }

    private static String config(List<ConsulPorts> ports) {
        String join = ports.stream().map(own -> '"' + own.serfAddress() + '"').collect(Collectors.joining(", "));
        return """
                {
                  "server": true,
                  "bootstrap_expect": %d,
                  "retry_join": [%s],
                  "retry_interval": "1s",
                  "autopilot": {"cleanup_dead_servers": false, "server_stabilization_time": "1s"}
                }
                """.formatted(SIZE, join);
    }

    /** Returns the servers; their numbers are their places in this list. */
    public List<ConsulServer> servers() {
        return servers;
    }

    /** Returns the server of a number, from 0. */
    public ConsulServer server(int number) {
        return servers.get(number);
    }

    /** Returns the address of one server's HTTP API. */
    public String url(int number) {
        return server(number).url();
    }

    /**
     * Asks which server leads. Takes up to two seconds for each server that is frozen.
     *
     * @return the number of the server that says so itself and that another one agrees with; empty if there is none
     */
    public OptionalInt leader() {
        List<String> named =
                servers.stream().map(server -> probe(server, LEADER).strip()).toList();
        for (int number = 0; number < SIZE; number++) {
            String own = '"' + server(number).process().ports().serverAddress() + '"';
            if (own.equals(named.get(number))
                    && named.stream().filter(own::equals).count() > SIZE / 2) {
                return OptionalInt.of(number);
            }
        }
        return OptionalInt.empty();
    }

    /**
     * Waits for a leader.
     *
     * @return its number
     * @throws IllegalStateException if there is none after a minute
     */
    public int awaitLeader() {
        return awaitLeaderOtherThan(-1);
    }

    /**
     * Waits for another leader than a former one.
     *
     * @return its number
     * @throws IllegalStateException if there is none after a minute
     */
    public int awaitLeaderOtherThan(int former) {
        int[] found = {-1};
        await("a leader other than server " + former, () -> {
            found[0] = leader().orElse(former);
            return found[0] != former;
        });
        return found[0];
    }

    /**
     * Waits until every server is a healthy voter, so that any one of them can be spared.
     *
     * @throws IllegalStateException if that takes longer than a minute
     */
    public void awaitHealthy() {
        await(
                "three healthy voters",
                () -> servers.stream()
                        .allMatch(server ->
                                ALL_HEALTHY.matcher(probe(server, HEALTH)).find()));
    }

    /**
     * Makes up for all faults: resumes frozen servers, starts dead ones and waits until all are healthy voters.
     *
     * @throws IllegalStateException if they are not after a minute
     */
    public void heal() {
        for (ConsulServer server : servers) {
            if (server.process().isAlive()) {
                server.resume();
            } else {
                server.process().launch(); // not one after the other: one alone would wait for the next in vain
            }
        }
        servers.forEach(server -> server.process().awaitUsable());
        awaitHealthy();
    }

    /** Stops all servers and deletes their state. */
    @Override
    public void close() {
        servers.forEach(ConsulServer::kill); // they need not part in good order, which takes seconds
        servers.forEach(ConsulServer::close);
    }

    @Override
    public String toString() {
        return "ConsulCluster" + servers;
    }

    private static String probe(ConsulServer server, String path) {
        return server.process().http().probe(path).orElse("");
    }

    private void await(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new IllegalStateException(what + " did not come in " + PATIENCE.toSeconds() + " s: " + this);
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }
}
