package io.ringfence.election.internal;

import java.util.Objects;
import java.util.regex.Pattern;

/** What an election may be called. Names become keys, and Consul reads another key than it locks where one has dots. */
public final class ElectionNames {
    private static final Pattern SEGMENTED =
            Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*");

    private ElectionNames() {}

    /**
     * Checks a name.
     *
     * @param text the name
     * @param what what it is, for the message
     * @throws IllegalArgumentException if it is not segments joined by single slashes
     */
    public static void require(String text, String what) {
        if (!SEGMENTED.matcher(Objects.requireNonNull(text, "name")).matches()) {
            throw new IllegalArgumentException(
                    what + " is segments of [A-Za-z0-9_.-] joined by single '/', none of which"
                            + " starts with '.': not '" + text + "'");
        }
    }
}
