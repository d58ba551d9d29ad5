package io.ringfence.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A PostgreSQL from the binaries that Maven brought, as a local process. */
final class PostgresLocal implements PostgresProcess {

    private static final int START_ATTEMPTS = 3;
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration DEATH = Duration.ofSeconds(10);
    private static final String USER = "postgres";

    private final EmbeddedPostgres postgres;
    private final PostgresDatabase database;
    private final Path directory;

    private PostgresLocal(EmbeddedPostgres postgres, PostgresDatabase database, Path directory) {
        this.postgres = postgres;
        this.database = database;
        this.directory = directory;
    }

    static PostgresLocal start(Map<String, String> settings) {
        for (int attempt = 1; ; attempt++) {
            Path directory = Directories.create("postgres");
            Path log = directory.resolve("postgres.log");
            try {
                return start(settings, directory, log);
            } catch (IOException | RuntimeException e) {
                String tail = Directories.tail(log);
                if (attempt == START_ATTEMPTS || !tail.contains("Address already in use")) {
                    throw new IllegalStateException("PostgreSQL did not start: " + e.getMessage() + tail, e);
                }
            }
        }
    }

    private static PostgresLocal start(Map<String, String> settings, Path directory, Path log) throws IOException {
        String password = UUID.randomUUID().toString();
        int port = FreePorts.find(1).get(0);
        Path passwordFile = Files.writeString(directory.resolve("password"), password);
        ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(log.toFile());
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                // "locale" options go to initdb as they are: these make the server check passwords from its first
                // moment
                .setLocaleConfig("pwfile", passwordFile.toString())
                .setLocaleConfig("auth", "scram-sha-256")
                .setLocaleConfig("locale", "C")
                .setConnectConfig("password", password)
                .setServerConfig("max_connections", "100")
                // EmbeddedPostgres has it off, and would forget commits when it is killed
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("unix_socket_directories", "")
                .setPort(port)
                .setDataDirectory(data(directory))
                .setOutputRedirector(output)
                .setErrorRedirector(output)
                .setPGStartupWait(START);
        settings.forEach(builder::setServerConfig);
        EmbeddedPostgres postgres = builder.start();
        PostgresDatabase database = new PostgresDatabase("127.0.0.1", port, USER, USER, password);
        return new PostgresLocal(postgres, database, directory);
    }

    @Override
    public PostgresDatabase database() {
        return database;
    }

    @Override
    public long pid() throws IOException {
        Path pidFile = data(directory).toPath().resolve("postmaster.pid");
        return Long.parseLong(Files.readAllLines(pidFile).get(0).strip());
    }

    /** Stops the postmaster first, so that it starts no more processes while those that it has are listed. */
    @Override
    public void kill() {
        try {
            ProcessHandle postmaster = ProcessHandle.of(pid()).orElseThrow();
            signal("STOP", Stream.of(postmaster));
            List<ProcessHandle> all = Stream.concat(Stream.of(postmaster), postmaster.descendants())
                    .toList();
            signal("KILL", all.stream());
            for (ProcessHandle process : all) {
                process.onExit().get(DEATH.toSeconds(), TimeUnit.SECONDS);
            }
        } catch (IOException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException("PostgreSQL was not killed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while killing PostgreSQL", e);
        }
    }

    private static void signal(String name, Stream<ProcessHandle> processes) throws IOException, InterruptedException {
        String pids = processes.map(process -> " " + process.pid()).collect(Collectors.joining());
        // one of them may be gone by itself, which is why the status is not looked at
        new ProcessBuilder("sh", "-c", "kill -" + name + pids).start().waitFor();
    }

    @Override
    public void restart() {
        Path log = directory.resolve("postgres.log");
        List<String> command = new ArrayList<>();
        if (LinuxUtils.isUnshareAvailable()) {
            // as EmbeddedPostgres does it: the server refuses to run as root
            command.addAll(List.of("unshare", "-U"));
        }
        try {
            String lastCommand = Files.readString(data(directory).toPath().resolve("postmaster.opts"));
            Path binary = Path.of(lastCommand.substring(0, lastCommand.indexOf(" \"")));
            command.add(binary.resolveSibling("pg_ctl").toString());
            command.addAll(List.of("-D", data(directory).toString(), "-l", log.toString(), "-w", "restart"));
            Command.run(START, command);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "PostgreSQL did not start again: " + e.getMessage() + Directories.tail(log), e);
        }
    }

    @Override
    public void close() {
        try {
            postgres.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Directories.delete(directory);
    }

    private static File data(Path directory) {
        return directory.resolve("data").toFile();
    }
}
