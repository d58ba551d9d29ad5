package io.ringfence.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A Consul client agent in a process of its own: no server, but the agent on the machine of an application, which keeps the
 * application's checks and passes its requests on to servers.
 *
 * <p>It listens on free ports of the loopback interface and keeps its state on disk below the build directory until
 * {@link #close()}. A started one knows a leader and accepts sessions, which belong to its own node. The process dies with
 * this JVM, but outlives it if the JVM is killed with SIGKILL.
 *
 * <p>Thread-safe, except that an agent should be stopped and restarted by one thread at a time.
 */
public final class ConsulClient implements AutoCloseable {

    private final ConsulProcess process;

    private ConsulClient(ConsulProcess process) {
        this.process = process;
    }

    /**
     * Starts a client of one server, and waits until it is usable.
     *
     * @throws IllegalStateException if there is no consul executable, or the agent does not start
     */
    public static ConsulClient of(ConsulServer server, String... extraConfigJson) {
        return join(List.of(server), extraConfigJson);
    }

    /**
     * Starts a client of a cluster, which goes on with the others when one server is lost, and waits until it is usable.
     *
     * @param extraConfigJson JSON objects in the format of Consul's configuration files; later ones win
     * @throws IllegalStateException if there is no consul executable, or the agent does not start
     */
    public static ConsulClient of(ConsulCluster cluster, String... extraConfigJson) {
        return join(cluster.servers(), extraConfigJson);
    }

    private static ConsulClient join(List<ConsulServer> servers, String... extraConfigJson) {
        String join = servers.stream()
                .map(server -> '"' + server.process().ports().serfAddress() + '"')
                .collect(Collectors.joining(", "));
        List<String> config = new ArrayList<>();
        config.add("{\"server\": false, \"retry_join\": [" + join + "], \"retry_interval\": \"1s\"}");
        config.addAll(List.of(extraConfigJson));
        return new ConsulClient(ConsulProcess.start(1, ports -> config).get(0));
    }

    /** Returns the address of the HTTP API, such as {@code http://127.0.0.1:8500}. */
    public String url() {
        return process.http().url();
    }

    /** Returns the port of the HTTP API, on the loopback interface. */
    public int httpPort() {
        return process.ports().http();
    }

    /** Returns the process id; a restarted agent has a new one. */
    public long pid() {
        return process.pid();
    }

    /** Freezes the agent (SIGSTOP): its connections stay, and connections are accepted, but nothing is answered. */
    public void freeze() {
        process.freeze();
    }

    /** Resumes a frozen agent (SIGCONT). */
    public void resume() {
        process.resume();
    }

    /** Kills the agent (SIGKILL) and waits for its death. Its node stays known, and so do the node's sessions. */
    public void kill() {
        process.kill();
    }

    /**
     * Stops the agent (SIGTERM), by force after ten seconds. It takes leave, for some five seconds, and its node's sessions
     * end soon after the beginning of that.
     */
    public void stop() {
        process.stop();
    }

    /**
     * Starts the agent again with the same ports, node and checks, after stopping it if it runs, and waits until it is
     * usable.
     *
     * @throws IllegalStateException if the agent does not start
     */
    public void restart() {
        process.launch();
        process.awaitUsable();
    }

    /**
     * Sends a GET request.
     *
     * @param path the path with its query, such as {@code /v1/agent/self}
     * @return the body of the answer
     * @throws IllegalStateException if the status is not 2xx; the message holds status and body
     */
    public String get(String path) {
        return process.http().get(path);
    }

    /**
     * Sends a PUT request.
     *
     * @param path the path with its query, such as {@code /v1/kv/key}
     * @return the body of the answer
     * @throws IllegalStateException if the status is not 2xx; the message holds status and body
     */
    public String put(String path, String body) {
        return process.http().put(path, body);
    }

    /** Kills the agent and deletes its state. */
    @Override
    public void close() {
        kill(); // leaving takes seconds
        process.close();
    }

    @Override
    public String toString() {
        return "ConsulClient[" + process + "]";
    }
}
