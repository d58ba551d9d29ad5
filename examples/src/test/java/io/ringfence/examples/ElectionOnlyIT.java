package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.servers.ChildJvm;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The election needs nothing but its own short list of dependencies, which the build keeps short. */
@ExtendWith(SharedServers.class)
class ElectionOnlyIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String OURS = "examples|election";
    private static final Pattern ALLOWED = Pattern.compile("<include>[^:<]+:([^:<]+)</include>");

    @Test
    void leadsWithNothingElseOnTheClassPath(ConsulServer consul) {
        List<String> classPath = electionAlone();
        try (ChildJvm leader = ChildJvm.start(
                ElectionOnly.class, List.of("-cp", String.join(File.pathSeparator, classPath)), consul.url())) {
            String line = leader.awaitLine("leading with token ", PATIENCE);
            String token = line.substring(line.lastIndexOf(' ') + 1);
            assertThat(consul.get("/v1/kv/ringfence/heartbeat"))
                    .contains("\"ModifyIndex\":" + token)
                    .contains("\"Session\":");
        }
    }

    /** These classes, the election, and the artifacts that its POM allows it to bring along: each of them once. */
    private static List<String> electionAlone() {
        List<String> wanted = new ArrayList<>(List.of("examples", "election"));
        wanted.addAll(ALLOWED.matcher(Repository.read("election/pom.xml"))
                .results()
                .map(MatchResult::group)
                .map(include -> ALLOWED.matcher(include).replaceAll("$1"))
                .toList());
        assertThat(wanted).as("a short list").hasSizeBetween(5, 12);
        List<String> all = Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
        return wanted.stream()
                .map(artifact -> {
                    List<String> found =
                            all.stream().filter(entry -> isFor(artifact, entry)).toList();
                    assertThat(found)
                            .as("what the class path has for " + artifact)
                            .hasSize(1);
                    return found.get(0);
                })
                .toList();
    }

    private static boolean isFor(String artifact, String entry) {
        String path = entry.replace(File.separatorChar, '/');
        String jar = artifact.matches(OURS) ? "ringfence-" + artifact : artifact;
        return path.endsWith("/" + artifact + "/target/classes")
                || path.matches(".*/" + Pattern.quote(jar) + "-[0-9][^/]*\\.jar");
    }
}
