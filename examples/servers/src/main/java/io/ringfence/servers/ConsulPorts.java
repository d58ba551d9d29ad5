package io.ringfence.servers;

import java.util.ArrayList;
import java.util.List;

/**
 * The ports of one Consul agent, all on the loopback interface.
 *
 * @param http that of the HTTP API
 * @param server that by which servers and their clients reach a server
 * @param serf that by which agents find each other
 */
record ConsulPorts(int http, int server, int serf) {

    private static final int EACH = 3;

    /** Returns the ports of several agents, all different. Another process may take one before its use. */
    static List<ConsulPorts> find(int agents) {
        List<Integer> free = FreePorts.find(EACH * agents);
        List<ConsulPorts> ports = new ArrayList<>();
        for (int i = 0; i < free.size(); i += EACH) {
            ports.add(new ConsulPorts(free.get(i), free.get(i + 1), free.get(i + 2)));
        }
        return ports;
    }

    /** Returns where other agents can ask to join, for {@code retry_join}. */
    String serfAddress() {
        return "127.0.0.1:" + serf;
    }

    /** Returns the address by which a server is named as the leader. */
    String serverAddress() {
        return "127.0.0.1:" + server;
    }
}
