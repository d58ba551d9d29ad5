package io.ringfence.servers;

import java.util.List;
import org.testcontainers.mariadb.MariaDBContainer;
import org.testcontainers.utility.DockerImageName;

/** A MariaDB in a Docker container. */
final class MariaDbContainer implements MariaDbProcess {

    private static final String IMAGE = "mariadb:11.4";
    private static final int PORT = 3306;

    private final MariaDBContainer container;

    private MariaDbContainer(MariaDBContainer container) {
        this.container = container;
    }

    static MariaDbContainer start() {
        if (!Backends.dockerAnswers()) {
            throw new IllegalStateException("MariaDB should come from Docker (-D" + Backends.PROPERTY
                    + "=docker), but Docker does not answer. Start Docker, or leave the property out.");
        }
        MariaDBContainer container = new MariaDBContainer(DockerImageName.parse(IMAGE));
        container.setPortBindings(List.of("127.0.0.1::" + PORT));
        container.start();
        return new MariaDbContainer(container);
    }

    @Override
    public MariaDbDatabase database() {
        // the image gives root the password of its user
        return new MariaDbDatabase(
                container.getHost(),
                container.getMappedPort(PORT),
                container.getDatabaseName(),
                "root",
                container.getPassword());
    }

    @Override
    public long pid() {
        throw new UnsupportedOperationException("a MariaDB in a container has no process id here");
    }

    @Override
    public void close() {
        container.stop();
    }
}
