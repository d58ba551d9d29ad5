package io.ringfence.servers;

import java.util.List;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A PostgreSQL in a Docker container. */
final class PostgresContainer implements PostgresProcess {

    private static final String IMAGE = "postgres:17";

    private final PostgreSQLContainer container;

    private PostgresContainer(PostgreSQLContainer container) {
        this.container = container;
    }

    static PostgresContainer start() {
        if (!Backends.dockerAnswers()) {
            throw new IllegalStateException("PostgreSQL should come from Docker (-D" + Backends.PROPERTY
                    + "=docker), but Docker does not answer. Start Docker, or leave the property out.");
        }
        PostgreSQLContainer container = new PostgreSQLContainer(DockerImageName.parse(IMAGE));
        container.setPortBindings(List.of("127.0.0.1::" + PostgreSQLContainer.POSTGRESQL_PORT));
        container.start();
        return new PostgresContainer(container);
    }

    @Override
    public PostgresDatabase database() {
        return new PostgresDatabase(
                container.getHost(),
                container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT),
                container.getDatabaseName(),
                container.getUsername(),
                container.getPassword());
    }

    @Override
    public long pid() {
        throw new UnsupportedOperationException("a PostgreSQL in a container has no process id here");
    }

    @Override
    public void close() {
        container.stop();
    }
}
