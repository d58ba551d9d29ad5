package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A single Consul server in a process of its own, which can be frozen, killed and restarted with its state.
 *
 * <p>It listens on free ports of the loopback interface and keeps its state on disk below the build directory until
 * {@link #close()}. A started server has a leader and accepts sessions (where its ACLs deny anonymous callers: has a
 * leader). It is one server, not a cluster: while it is down there is no Consul. The process dies with this JVM, but
 * outlives it if the JVM is killed with SIGKILL.
 *
 * <p>Thread-safe, except that a server should be stopped and restarted by one thread at a time.
 */
public final class ConsulServer implements AutoCloseable {

    private static final int START_ATTEMPTS = 5;
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration GRACE = Duration.ofSeconds(10);

    private final ConsulBinary binary;
    private final Path directory;
    private final Path log;
    private final List<String> command = new ArrayList<>();
    private final int httpPort;
    private final ConsulHttp http;
    private volatile OsProcess process;

    private ConsulServer(ConsulBinary binary, String... extraConfigJson) throws IOException {
        this.binary = binary;
        this.directory = Directories.create("consul");
        this.log = directory.resolve("consul.log");
        List<Integer> ports = FreePorts.find(3);
        this.httpPort = ports.get(0);
        this.http = new ConsulHttp(url());
        command.addAll(List.of(binary.path().toString(), "agent", "-data-dir=" + directory.resolve("data")));
        configure(config(ports));
        for (String json : extraConfigJson) {
            configure(json);
        }
        this.process = launch();
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
        ConsulBinary binary = ConsulBinaries.current();
        for (int attempt = 1; ; attempt++) {
            try {
                ConsulServer server = new ConsulServer(binary, extraConfigJson);
                if (server.awaitUsable(attempt == START_ATTEMPTS)) {
                    return server;
                }
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Returns the address of the HTTP API, such as {@code http://127.0.0.1:8500}. */
    public String url() {
        return "http://127.0.0.1:" + httpPort;
    }

    /** Returns the port of the HTTP API, on the loopback interface. */
    public int httpPort() {
        return httpPort;
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
        process.stop(GRACE);
    }

    /**
     * Starts the server again with the same ports and state, after stopping it if it runs, and waits until it is usable.
     *
     * @throws IllegalStateException if the server does not start
     */
    public void restart() {
        stop();
        process = launch();
        awaitUsable(true);
    }

    /**
     * Sends a GET request.
     *
     * @param path the path with its query, such as {@code /v1/status/leader}
     * @return the body of the answer
     * @throws IllegalStateException if the status is not 2xx; the message holds status and body
     */
    public String get(String path) {
        return http.get(path);
    }

    /**
     * Sends a PUT request.
     *
     * @param path the path with its query, such as {@code /v1/kv/key}
     * @return the body of the answer
     * @throws IllegalStateException if the status is not 2xx; the message holds status and body
     */
    public String put(String path, String body) {
        return http.put(path, body);
    }

    /** Destroys a session, as an operator would. */
    public void destroySession(String id) {
        put("/v1/session/destroy/" + id, "");
    }

    /** Deletes a key, whoever holds it. */
    public void deleteKey(String key) {
        http.delete("/v1/kv/" + key);
    }

    /** Stops the server and deletes its state. */
    @Override
    public void close() {
        stop();
        Directories.delete(directory);
    }

    @Override
    public String toString() {
        return "ConsulServer[" + binary.version() + ", " + url() + ", pid " + pid() + "]";
    }

    private OsProcess launch() {
        return OsProcess.start(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())));
    }

    /** Returns false if a port was taken meanwhile, which the last attempt treats as any other failure. */
    private boolean awaitUsable(boolean lastAttempt) {
        long start = System.nanoTime();
        while (!http.isUsable()) {
            boolean exited = process.awaitExit(POLL);
            if (exited && !lastAttempt && Directories.tail(log).contains("address already in use")) {
                return false;
            }
            if (exited || System.nanoTime() - start > START.toNanos()) {
                process.kill();
                String what = exited ? " exited at its start." : " was not usable after " + START.toSeconds() + " s.";
                throw new IllegalStateException("Consul" + what + Directories.tail(log));
            }
        }
        return true;
    }

    private void configure(String json) throws IOException {
        Path file = directory.resolve("config-" + command.size() + ".json");
        Files.writeString(file, json);
        command.add("-config-file=" + file);
    }

    private String config(List<Integer> ports) {
        String grpcTls = binary.hasGrpcTlsPort() ? ", \"grpc_tls\": -1" : "";
        return """
                {
                  "server": true,
                  "bootstrap": true,
                  "bind_addr": "127.0.0.1",
                  "client_addr": "127.0.0.1",
                  "node_name": "consul-%1$d",
                  "ports": {"http": %1$d, "server": %2$d, "serf_lan": %3$d, "serf_wan": -1, "dns": -1, "grpc": -1%4$s},
                  "performance": {"raft_multiplier": 1},
                  "limits": {"http_max_conns_per_client": 1000},
                  "disable_update_check": true
                }
                """.formatted(ports.get(0), ports.get(1), ports.get(2), grpcTls);
    }
}
