package io.ringfence.election.consul;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a leader writes into its key: who it is, and the epoch of its token. It is the same for the life of a process:
 * locking again with another value would move the key's index.
 */
final class HolderValue {
    private static final String HOLDER = "holder";
    private static final String EPOCH = "epoch";
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");

    private HolderValue() {}

    static String of(String holder, int epoch) {
        JsonObject value = new JsonObject();
        value.addProperty(HOLDER, holder);
        value.addProperty(EPOCH, epoch);
        return value.toString();
    }

    /** The holder that a value names; empty for a value that is not ours. */
    static Optional<String> holder(@Nullable String value) {
        return member(value, HOLDER).filter(JsonPrimitive::isString).map(JsonPrimitive::getAsString);
    }

    /** The epoch that a value carries; 0 for a value that is not ours. */
    static int epoch(@Nullable String value) {
        // as text, for a JSON number may be anything
        return member(value, EPOCH)
                .map(JsonPrimitive::getAsString)
                .filter(text -> NUMBER.matcher(text).matches())
                .map(Integer::parseInt)
                .filter(epoch -> epoch <= FencingTokens.HIGHEST_EPOCH)
                .orElse(0);
    }

    private static Optional<JsonPrimitive> member(@Nullable String value, String name) {
        if (value == null) {
            return Optional.empty();
        }
        try {
            JsonElement parsed = JsonParser.parseString(value);
            boolean ours = parsed.isJsonObject() && parsed.getAsJsonObject().has(HOLDER);
            return ours && parsed.getAsJsonObject().get(name) instanceof JsonPrimitive member
                    ? Optional.of(member)
                    : Optional.empty();
        } catch (JsonParseException e) {
            return Optional.empty(); // somebody else's bytes
        }
    }
}
