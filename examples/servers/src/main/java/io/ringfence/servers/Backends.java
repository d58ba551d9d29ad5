package io.ringfence.servers;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;

/** Where servers may come from: the system property {@value #PROPERTY}. */
enum Backends {
    /** Local processes, and Docker for what is not found on this machine. */
    AUTO,
    /** Docker, whatever this machine has. */
    DOCKER,
    /** Local processes; Docker is never asked. */
    LOCAL;

    static final String PROPERTY = "ringfence.backends";

    static Backends current() {
        return parse(System.getProperty(PROPERTY));
    }

    static Backends parse(@Nullable String value) {
        if (value == null || value.isBlank()) {
            return AUTO;
        }
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "docker" -> DOCKER;
            case "local" -> LOCAL;
            default ->
                throw new IllegalArgumentException(
                        "-D" + PROPERTY + "=" + value + " is none of auto, docker and local");
        };
    }

    /** Whether a Docker engine answers; the first call takes up to a second. */
    static boolean dockerAnswers() {
        return DockerClientFactory.instance().isDockerAvailable();
    }
}
