package io.ringfence.election.consul;

import static org.awaitility.Awaitility.await;

import io.ringfence.servers.ConsulServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;

/** Two datacenters of one Consul server each, {@code east} and {@code west}, that know each other. */
final class JoinedDatacenters implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final ConsulServer east;
    private final ConsulServer west;

    JoinedDatacenters() throws IOException {
        this("{}");
    }

    /**
     * Starts them, and waits until they are joined.
     *
     * @param moreConfigJson for both
     */
    JoinedDatacenters(String moreConfigJson) throws IOException {
        int eastPort = freePort();
        east = ConsulServer.start(config("east", eastPort, ""), moreConfigJson);
        west = ConsulServer.start(config("west", freePort(), "\"127.0.0.1:" + eastPort + "\""), moreConfigJson);
        await("the datacenters to be joined").atMost(SOON).until(() -> knowsBoth(east) && knowsBoth(west));
    }

    private static boolean knowsBoth(ConsulServer server) {
        String known = server.get("/v1/catalog/datacenters");
        return known.contains("east") && known.contains("west");
    }

    private static String config(String datacenter, int wanPort, String join) {
        return """
                {"datacenter": "%s", "ports": {"serf_wan": %d}, "retry_join_wan": [%s], "retry_interval_wan": "1s"}
                """.formatted(datacenter, wanPort, join);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    ConsulServer east() {
        return east;
    }

    ConsulServer west() {
        return west;
    }

    @Override
    public void close() {
        west.close();
        east.close();
    }
}
