package io.ringfence.election.consul;

import com.ecwid.consul.transport.TransportException;
import java.security.GeneralSecurityException;
import java.util.Locale;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** What to say, and to advise, when a request got no answer that can be read. */
final class HttpFailure {
    private HttpFailure() {}

    static ConsulAnswer.Failed of(String address, RuntimeException failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        String why = root.getClass().getSimpleName() + (message == null ? "" : ": " + message);
        if (!(failure instanceof TransportException)) {
            return new ConsulAnswer.Failed(
                    "A request to Consul at " + address + " failed: " + why
                            + ". Either it is no Consul agent, or the supplier of the ACL token throws",
                    failure);
        }
        String advice = address.startsWith("https:")
                ? tlsAdvice(root, why)
                : "Check that the address is right and that an agent runs there";
        return new ConsulAnswer.Failed("Cannot reach Consul at " + address + ": " + why + ". " + advice, failure);
    }

    private static String tlsAdvice(Throwable root, String why) {
        if (root instanceof GeneralSecurityException) {
            return "The agent's certificate is not trusted: check that sslContext(..) trusts its CA";
        }
        if (root instanceof SSLPeerUnverifiedException) {
            return "The agent's certificate is for other names: check that the address is one of them";
        }
        // An agent that misses a client's certificate says so in an alert, or just closes the connection.
        if (root instanceof SSLException && !why.toLowerCase(Locale.ROOT).contains("certificate")) {
            return "Check that the port is one for HTTPS";
        }
        return "Check that the address is right, that an agent runs there, and that"
                + " sslContext(..) has the client certificate that the agent may want";
    }
}
