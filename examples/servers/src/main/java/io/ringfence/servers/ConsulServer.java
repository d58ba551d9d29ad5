package io.ringfence.servers;

import java.util.ArrayList;
import java.util.List;

/**
 * A Consul server in a process of its own, which can be frozen, killed and restarted with its state.
 *
 * <p>It listens on free ports of the loopback interface and keeps its state on disk below the build directory until
 * {@link #close()}. A started server has a leader and accepts sessions (where its ACLs deny anonymous callers: has a
 * leader). Unless it belongs to a {@link ConsulCluster} it is alone: while it is down there is no Consul. The process
 * dies with this JVM, but outlives it if the JVM is killed with SIGKILL.
 *
 * <p>Thread-safe, except that a server should be stopped and restarted by one thread at a time.
 */
public final class ConsulServer implements AutoCloseable {

    private static final String ALONE = "{\"server\": true, \"bootstrap\": true}";

    private final ConsulProcess process;

    ConsulServer(ConsulProcess process) {
        this.process = process;
    }

    /**
     * Starts a server and waits until it is usable, which takes about two seconds.
     *
     * @throws IllegalStateException if there is no consul executable, or the server does not start
     */
    public static ConsulServer start() {
        return start(new String[0]);
    }

    /**
     * Starts a server with more configuration, and waits until it is usable.
     *
     * @param extraConfigJson JSON objects in the format of Consul's configuration files; later ones win
     * @throws IllegalStateException if there is no consul executable, or the server does not start
     */
    public static ConsulServer start(String... extraConfigJson) {
        List<String> config = new ArrayList<>(List.of(ALONE));
        config.addAll(List.of(extraConfigJson));
        return new ConsulServer(ConsulProcess.start(1, ports -> config).get(0));
    }

    /** Returns the address of the HTTP API, such as {@code http://127.0.0.1:8500}. */
    public String url() {
        return process.http().url();
    }

    /** Returns the port of the HTTP API, on the loopback interface. */
    public int httpPort() {
        return process.ports().http();
    }

    /** Returns the process id; a restarted server has a new one. */
    public long pid() {
        return process.pid();
    }

    /** Freezes the server (SIGSTOP): its connections stay, and connections are accepted, but nothing is answered. */
    public void freeze() {
        process.freeze();
    }

    /** Resumes a frozen server (SIGCONT). */
    public void resume() {
        process.resume();
    }

    /** Kills the server (SIGKILL) and waits for its death. Its state stays on disk. */
    public void kill() {
        process.kill();
    }

    /** Stops the server (SIGTERM), by force after ten seconds. Its state stays on disk. Also stops a frozen one. */
    public void stop() {
        process.stop();
    }

    /**
     * Starts the server again with the same ports and state, after stopping it if it runs, and waits until it is usable.
     *
     * @throws IllegalStateException if the server does not start
     */
    public void restart() {
        process.launch();
        process.awaitUsable();
    }

    /**
     * Sends a GET request.
     *
     * @param path the path with its query, such as {@code /v1/status/leader}
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

    /** Destroys a session, as an operator would. */
    public void destroySession(String id) {
        put("/v1/session/destroy/" + id, "");
    }

    /** Deletes a key, whoever holds it. */
    public void deleteKey(String key) {
        process.http().delete("/v1/kv/" + key);
    }

    /** Stops the server and deletes its state. */
    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return "ConsulServer[" + process + "]";
    }

    /** The agent itself, for those that put several together. */
    ConsulProcess process() {
        return process;
    }
}
