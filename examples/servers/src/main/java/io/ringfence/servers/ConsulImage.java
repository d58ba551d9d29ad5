package io.ringfence.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** The Docker image that a consul executable can be copied out of; it is linked statically and runs on any Linux. */
final class ConsulImage {

    /** The last release line under the Mozilla Public License. */
    static final String NAME = "hashicorp/consul:1.16";

    private ConsulImage() {}

    /**
     * Copies the executable out of the image, once for each build directory.
     *
     * @throws IOException if this machine does not run Linux, or Docker does not answer or fails
     */
    static Path copyBinary() throws IOException {
        if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")) {
            throw new IOException("its executable runs on Linux only");
        }
        if (!Backends.dockerAnswers()) {
            throw new IOException("Docker does not answer");
        }
        Path binary = Directories.base().resolve("consul-1.16");
        if (!Files.isExecutable(binary)) {
            Path copy = Files.createTempFile(binary.getParent(), "consul", ".copy");
            try (var container = new GenericContainer<>(DockerImageName.parse(NAME)).withCommand("sleep", "60")) {
                container.start();
                container.copyFileFromContainer("/bin/consul", copy.toString());
            } catch (RuntimeException e) {
                throw new IOException("the copy failed: " + e.getMessage(), e);
            }
            if (!copy.toFile().setExecutable(true)) {
                throw new IOException(copy + " cannot be made executable");
            }
            Files.move(copy, binary, StandardCopyOption.ATOMIC_MOVE);
        }
        return binary;
    }
}
