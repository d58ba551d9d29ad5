package io.ringfence.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** A PostgreSQL in a Docker container. */
final class PostgresContainer implements PostgresProcess {

    private static final String IMAGE = "postgres:17";

    private final PostgreSQLContainer container;

    private PostgresContainer(PostgreSQLContainer container) {
        this.container = container;
    }

    static PostgresContainer start(Map<String, String> settings) {
        if (!Backends.dockerAnswers()) {
            throw new IllegalStateException("PostgreSQL should come from Docker (-D" + Backends.PROPERTY
                    + "=docker), but Docker does not answer. Start Docker, or leave the property out.");
        }
        PostgreSQLContainer container = new PostgreSQLContainer(DockerImageName.parse(IMAGE));
        container.setPortBindings(List.of("127.0.0.1::" + PostgreSQLContainer.POSTGRESQL_PORT));
        List<String> command = new ArrayList<>(List.of("postgres"));
        settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        container.setCommand(command.toArray(String[]::new));
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
    public void kill() {
        throw new UnsupportedOperationException("a PostgreSQL in a container cannot be killed from here");
    }

    @Override
    public void restart() {
        throw new UnsupportedOperationException("a PostgreSQL in a container cannot be started again from here");
    }

    @Override
    public void close() {
        container.stop();
    }
}
