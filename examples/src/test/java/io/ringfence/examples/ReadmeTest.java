package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README says what the code says. */
class ReadmeTest {
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test|Contract))\\.(\\w+)`");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void everyRowOfTheGuaranteeTableNamesATest_andEachNamedTestExists() throws IOException {
        String readme = Repository.read("README.md");
        String table =
                readme.substring(readme.indexOf("## What is guaranteed"), readme.indexOf("## When not to use it"));
        List<String> rows =
                table.lines().filter(line -> line.startsWith("|")).skip(2).toList();
        assertThat(rows).hasSizeGreaterThan(6).allSatisfy(row -> assertThat(row).containsPattern(TEST));

        List<Path> sources = Repository.sources("src/test/java");
        for (MatchResult named : TEST.matcher(readme).results().toList()) {
            Path source = sources.stream()
                    .filter(file -> file.endsWith(named.group(1) + ".java"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no test " + named.group(1)));
            assertThat(annotations(Files.readString(source), named.group(2)))
                    .as("the annotations of " + named.group())
                    .containsPattern("@(Test|ParameterizedTest|RepeatedTest)\\b");
        }
    }

    /** What stands between the member before a method and the method; empty if there is no such method. */
    private static String annotations(String source, String method) {
        int at = source.indexOf("\n    void " + method + "(");
        return at < 0 ? "" : source.substring(source.lastIndexOf("\n\n", at), at);
    }

    @Test
    void everyPieceOfJavaIsPartOfAnExampleThatCompiles() throws IOException {
        StringBuilder examples = new StringBuilder();
        for (String folder : List.of("examples/src/main/java", "examples/src/test/java")) {
            for (Path source : Repository.sources(folder)) {
                examples.append(Repository.flattened(Files.readString(source))).append('\n');
            }
        }
        List<String> pieces = JAVA.matcher(Repository.read("README.md"))
                .results()
                .map(piece -> Repository.flattened(piece.group(1)))
                .toList();
        assertThat(pieces)
                .hasSizeGreaterThanOrEqualTo(3)
                .allSatisfy(piece -> assertThat(examples.toString()).contains(piece));
    }
}
