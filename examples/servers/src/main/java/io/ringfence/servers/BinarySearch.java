package io.ringfence.servers;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A search for an executable, which remembers what it tried. What was named explicitly must work; of the rest a place
 * that has no working one is passed over.
 */
final class BinarySearch<B> {

    /** Runs an executable, and refuses it if it is not the one that is meant. */
    interface Probe<B> {
        B probe(Path path, String origin) throws IOException;
    }

    /** A place to get an executable from. */
    interface Attempt {
        Path find() throws IOException;
    }

    private final String name;
    private final Probe<B> probe;
    private final List<String> failures = new ArrayList<>();

    BinarySearch(String name, Probe<B> probe) {
        this.name = name;
        this.probe = probe;
    }

    /**
     * Takes the executable that a setting names, if it is set.
     *
     * @throws IllegalStateException if it names no working one
     */
    @Nullable
    B named(String setting, @Nullable String value) {
        if (value == null || value.isBlank()) {
            failed(setting + ": not set");
            return null;
        }
        try {
            return probe.probe(Path.of(value), setting + "=" + value);
        } catch (IOException e) {
            throw new IllegalStateException(
                    setting + "=" + value + " names no working " + name + ": " + e.getMessage()
                            + "\nCorrect the value, or remove it to have " + name + " searched for.",
                    e);
        }
    }

    @Nullable
    B onPath(String path) {
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(directory, name);
            if (!directory.isEmpty() && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return attempt(candidate.toString(), () -> candidate);
            }
        }
        failed("PATH: no " + name + " in " + path);
        return null;
    }

    @Nullable
    B attempt(String origin, Attempt attempt) {
        try {
            Path path = attempt.find();
            String shown = origin.equals(path.toString()) ? origin : path + ", from " + origin;
            return probe.probe(path, shown);
        } catch (IOException e) {
            failed(origin + ": " + String.valueOf(e.getMessage()).replace("\n", "\n    "));
            return null;
        }
    }

    void failed(String failure) {
        failures.add(failure);
    }

    /** Returns what was tried and why it failed, one place to a line. */
    String failures() {
        return "Tried:\n  " + String.join("\n  ", failures);
    }
}
