package io.ringfence.fencing.corpus;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement and what becomes of it.
 *
 * @param name what it is about; unique
 * @param sql the statement as a repository would write it
 * @param parameters values for its parameters, as text whose type the server infers
 * @param fenced the fenced text, or null if it is refused
 * @param refusal a part of the message that refuses it, or null if it is fenced
 */
record CorpusStatement(
        String name,
        String sql,
        List<String> parameters,
        @Nullable String fenced,
        @Nullable String refusal) {

    boolean isFenced() {
        return fenced != null;
    }

    @Override
    public String toString() {
        return name;
    }
}
