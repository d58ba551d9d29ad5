package io.ringfence.fencing.corpus;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The statements in {@code statements.txt}; how they are written is said at its beginning. They fit the tables of
 * {@link CorpusTables}.
 */
final class Corpus {
    private static final String FILE = "statements.txt";
    private static final List<CorpusStatement> ALL = read();

    private final List<CorpusStatement> statements = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private @Nullable String name;
    private List<String> parameters = List.of();
    private @Nullable String sql;
    private @Nullable String refusal;
    private final List<String> lines = new ArrayList<>();

    private Corpus() {}

    static List<CorpusStatement> all() {
        return ALL;
    }

    static List<CorpusStatement> fenced() {
        return ALL.stream().filter(CorpusStatement::isFenced).toList();
    }

    private static List<CorpusStatement> read() {
        try (InputStream file = Objects.requireNonNull(Corpus.class.getResourceAsStream(FILE), FILE)) {
            Corpus corpus = new Corpus();
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            text.lines().filter(line -> !line.startsWith("###")).forEach(corpus::line);
            corpus.end();
            return List.copyOf(corpus.statements);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void line(String line) {
        if (line.startsWith("== ")) {
            end();
            name = line.substring(3);
        } else if (line.startsWith(":: ")) {
            parameters = List.of(line.substring(3).split(" \\| ", -1));
        } else if (line.equals("=>")) {
            sql = text();
        } else if (line.startsWith("!! ")) {
            sql = text();
            refusal = withControls(line.substring(3));
        } else if (!line.isEmpty()) {
            lines.add(line);
        }
    }

    private void end() {
        if (name == null) {
            return;
        }
        if (sql == null || !names.add(name) || (refusal == null) == lines.isEmpty()) {
            throw new IllegalStateException("Not complete, or its name is taken: " + name);
        }
        statements.add(new CorpusStatement(name, sql, parameters, refusal == null ? text() : null, refusal));
        name = null;
        parameters = List.of();
        sql = null;
        refusal = null;
        lines.clear();
    }

    /** Joins the lines read since. */
    private String text() {
        String text = String.join("\n", lines);
        lines.clear();
        return withControls(text);
    }

    private static String withControls(String text) {
        return text.replace('␍', '\r').replace('␉', '\t').replace('␌', '\f').replace('␀', '\0');
    }
}
