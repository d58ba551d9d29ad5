package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A Consul agent, server or client, in a process of its own that can be started again with the same ports and state. Its
 * state is below the build directory until it is closed. Thread-safe, except that one thread at a time may launch it.
 */
final class ConsulProcess implements AutoCloseable {

    private static final int START_ATTEMPTS = 5;
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration GRACE = Duration.ofSeconds(10);

    private final ConsulBinary binary;
    private final ConsulPorts ports;
    private final ConsulHttp http;
    private final Path directory = Directories.create("consul");
    private final Path log = directory.resolve("consul.log");
    private final List<String> command = new ArrayList<>();
    private volatile OsProcess process;

    private ConsulProcess(ConsulBinary binary, ConsulPorts ports, List<String> moreConfigJson) {
        this.binary = binary;
        this.ports = ports;
        this.http = new ConsulHttp("http://127.0.0.1:" + ports.http());
        command.addAll(List.of(binary.path().toString(), "agent", "-data-dir=" + directory.resolve("data")));
        configure(config());
        moreConfigJson.forEach(this::configure);
        this.process = run();
    }

    /**
     * Starts agents that may need each other, and waits until all are usable.
     *
     * @param moreConfig makes the configuration of each out of the ports of all, as JSON objects of which later ones win
     * @throws IllegalStateException if there is no consul executable, or an agent does not start
     */
    static List<ConsulProcess> start(int agents, Function<List<ConsulPorts>, List<String>> moreConfig) {
        ConsulBinary binary = ConsulBinaries.current();
        for (int attempt = 1; ; attempt++) {
            List<ConsulPorts> ports = ConsulPorts.find(agents);
            List<String> config = moreConfig.apply(ports);
            List<ConsulProcess> started = new ArrayList<>();
            ports.forEach(own -> started.add(new ConsulProcess(binary, own, config)));
            if (areUsable(started, attempt == START_ATTEMPTS)) {
                return started;
            }
            started.forEach(ConsulProcess::close);
        }
    }

    private static boolean areUsable(List<ConsulProcess> started, boolean lastAttempt) {
        try {
            boolean usable = true;
            for (ConsulProcess each : started) {
                usable = usable && each.awaitUsable(lastAttempt);
            }
            return usable;
        } catch (IllegalStateException e) {
            started.forEach(ConsulProcess::kill); // their logs stay, for the message names one
            throw e;
        }
    }

    ConsulHttp http() {
        return http;
    }

    ConsulPorts ports() {
        return ports;
    }

    String version() {
        return binary.version();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void freeze() {
        process.freeze();
    }

    void resume() {
        process.resume();
    }

    void kill() {
        process.kill();
    }

    /** Sends SIGTERM, and SIGKILL after ten seconds. */
    void stop() {
        process.stop(GRACE);
    }

    /** Starts it again, after stopping it if it runs, and does not wait. */
    void launch() {
        stop();
        process = run();
    }

    /**
     * Waits until it can be used.
     *
     * @throws IllegalStateException if it exits, or takes longer than half a minute; the message ends with its log
     */
    void awaitUsable() {
        boolean unused = awaitUsable(true);
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

    /** Stops it and deletes its state. */
    @Override
    public void close() {
        stop();
        Directories.delete(directory);
    }

    @Override
    public String toString() {
        return version() + ", " + http.url() + ", pid " + pid();
    }

    private OsProcess run() {
        return OsProcess.start(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())));
    }

    private void configure(String json) {
        Path file = directory.resolve("config-" + command.size() + ".json");
        try {
            Files.writeString(file, json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        command.add("-config-file=" + file);
    }

    /** What all our agents have in common. */
    private String config() {
        String grpcTls = binary.hasGrpcTlsPort() ? ", \"grpc_tls\": -1" : "";
        return """
                {
                  "bind_addr": "127.0.0.1",
                  "client_addr": "127.0.0.1",
                  "node_name": "consul-%1$d",
                  "ports": {"http": %1$d, "server": %2$d, "serf_lan": %3$d, "serf_wan": -1, "dns": -1, "grpc": -1%4$s},
                  "performance": {"raft_multiplier": 1},
                  "limits": {"http_max_conns_per_client": 1000},
                  "disable_update_check": true
                }
                """.formatted(ports.http(), ports.server(), ports.serf(), grpcTls);
    }
}
