package io.ringfence.servers;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A consul executable that ran once and said which version it is.
 *
 * @param path the executable
 * @param version the version without a leading v, such as 1.8.7
 * @param origin how it was found
 */
record ConsulBinary(Path path, String version, String origin) {

    private static final Pattern VERSION = Pattern.compile("^Consul v?((\\d+)\\.(\\d+)\\S*)");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /**
     * Asks the executable for its version.
     *
     * @throws IOException if it does not run or is no consul
     */
    static ConsulBinary probe(Path path, String origin) throws IOException {
        String out = Command.run(PATIENCE, List.of(path.toString(), "version")).out();
        Matcher matcher = VERSION.matcher(out);
        if (!matcher.find()) {
            throw new IOException("it is no consul: its version command printed '" + out + "'");
        }
        return new ConsulBinary(path, matcher.group(1), origin);
    }

    /** Whether its servers open a gRPC port for TLS unless told not to (1.14 and newer). */
    boolean hasGrpcTlsPort() {
        Matcher matcher = VERSION.matcher("Consul v" + version);
        return matcher.find() && (Integer.parseInt(matcher.group(2)) > 1 || Integer.parseInt(matcher.group(3)) >= 14);
    }
}
