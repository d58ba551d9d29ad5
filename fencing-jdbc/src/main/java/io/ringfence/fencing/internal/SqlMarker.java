package io.ringfence.fencing.internal;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place for the fence, written by the caller in a statement that is not fenced as it stands.
 *
 * @param name {@code set}, {@code where}, {@code column} or {@code token}
 * @param alias what the marker is to refer to, as written, or null
 */
record SqlMarker(String name, @Nullable String alias) {
    static final String ALL = "{fence.set}, {fence.where}, {fence.where alias}, {fence.column} and {fence.token}";

    private static final Pattern TEXT =
            Pattern.compile("\\s*fence\\.(?:(where)(?:\\s+(\\S+))?|(set|column|token))\\s*", Pattern.CASE_INSENSITIVE);

    /** Reads what stands between the braces; null if that is no marker. */
    static @Nullable SqlMarker parse(String text) {
        Matcher marker = TEXT.matcher(text);
        if (!marker.matches()) {
            return null;
        }
        String where = marker.group(1);
        return new SqlMarker(SqlChars.foldCase(where == null ? marker.group(3) : where), marker.group(2));
    }
}
