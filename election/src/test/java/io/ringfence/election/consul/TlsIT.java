package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ringfence.election.Election;
import io.ringfence.election.ElectionException;
import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.TcpProxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Consul that speaks HTTPS and wants a client certificate. Its own certificate names 127.0.0.1, but not localhost. */
class TlsIT {
    @TempDir
    private static Path directory;

    private static Certificates certificates;
    private static ConsulServer server;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        certificates = new Certificates(directory.resolve("known"))
                .issue("server", "ip:127.0.0.1,dns:server.dc1.consul")
                .issue("client", "dns:client.dc1.consul");
        port = freePort();
        server = ConsulServer.start("""
                {"ports": {"https": %d}, "verify_incoming_https": true,
                 "ca_file": "%s", "cert_file": "%s", "key_file": "%s"}
                """.formatted(
                port, certificates.caFile(), certificates.certificateFile("server"), certificates.keyFile("server")));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String address() {
        return "https://127.0.0.1:" + port;
    }

    private static void assertTold(ConsulElections.Builder builder, String... parts) {
        try (ConsulElections elections = builder.build()) {
            Election election = elections.election("job");
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::acquire)
                    .withMessageContainingAll(parts);
            assertThatExceptionOfType(ElectionException.class)
                    .isThrownBy(election::leader)
                    .withMessageContainingAll(parts);
        }
    }

    @Test
    void leadsWithTheRightCertificates_andUsesItsConnectionsAgain() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(port);
                ConsulElections elections = ConsulElections.builder("https://127.0.0.1:" + proxy.port())
                        .sslContext(certificates.context("client"))
                        .build();
                Lease lease = elections.election("reuse").acquire()) {
            for (int i = 0; i < 50; i++) {
                assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
            }
            Thread.sleep(Duration.ofSeconds(9).toMillis()); // past the first deadline: renewals arrived
            assertThat(lease.isHeld()).isTrue();
            assertThat(proxy.acceptedConnections()).isLessThanOrEqualTo(4);
        }
    }

    @Test
    void passesOverAnAddressThatRefuses() throws Exception {
        try (ConsulElections elections = ConsulElections.builder("https://127.0.0.1:" + freePort(), address())
                        .sslContext(certificates.context("client"))
                        .build();
                Lease lease = elections.election("second").acquire()) {
            assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
        }
    }

    @Test
    void says_whenTheAgentsCertificateIsNotTrusted() throws Exception {
        Certificates other = new Certificates(directory.resolve("other"));
        String[] told = {address(), "certificate is not trusted", "sslContext(..)"};
        assertTold(ConsulElections.builder(address()).sslContext(other.context(null)), told);
        assertTold(ConsulElections.builder(address()), told);
    }

    @Test
    void says_whenTheAgentWantsAClientCertificate() throws Exception {
        assertTold(
                ConsulElections.builder(address()).sslContext(certificates.context(null)),
                address(),
                "client certificate that the agent may want");
    }

    @Test
    void says_whenTheAgentsCertificateIsForAnotherName() throws Exception {
        String address = "https://localhost:" + port;
        assertTold(
                ConsulElections.builder(address).sslContext(certificates.context("client")),
                address,
                "certificate is for other names");
    }

    @Test
    void says_whenThePortSpeaksNoTls() throws Exception {
        String address = "https://127.0.0.1:" + server.httpPort();
        assertTold(ConsulElections.builder(address), address, "one for HTTPS");
        String plain = "http://127.0.0.1:" + port;
        assertTold(ConsulElections.builder(plain), plain, "HTTPS server");
    }
}
