package io.ringfence.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The repository that this test runs in. */
public final class Repository {
    private static final Path ROOT = root();

    private Repository() {}

    /** The text of a file, by its path from the root. */
    public static String read(String path) {
        try {
            return Files.readString(ROOT.resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text of the README between a line with this text and the end of the fenced block that follows it. */
    public static String readmeBlock(String after) {
        String readme = read("README.md");
        int start = readme.indexOf(after);
        if (start < 0) {
            throw new AssertionError("The README has no line '" + after + "'");
        }
        int open = readme.indexOf('\n', readme.indexOf("```", start)) + 1;
        return readme.substring(open, readme.indexOf("```", open));
    }

    /** All Java sources below a folder of any module, such as {@code src/test/java}. */
    public static List<Path> sources(String folder) {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().contains("/" + folder + "/"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A text without what only lays it out: indentation and line breaks. */
    public static String flattened(String text) {
        return Pattern.compile("\\s+").matcher(text).replaceAll(" ").strip();
    }

    private static Path root() {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve("LICENSE"))) {
                return folder;
            }
        }
        throw new IllegalStateException("These tests run somewhere below the root of the repository");
    }
}
