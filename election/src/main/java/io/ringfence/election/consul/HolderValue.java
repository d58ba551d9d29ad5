package io.ringfence.election.consul;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a leader writes into its key. It is the same for the life of a process: locking again with another value would move
 * the key's index.
 */
final class HolderValue {
    private static final String HOLDER = "holder";
    private static final String EPOCH = "epoch";

    private HolderValue() {}

    static String of(String holder) {
        JsonObject value = new JsonObject();
        value.addProperty(HOLDER, holder);
        value.addProperty(EPOCH, 0);
        return value.toString();
    }

    /** The holder that a value names; empty for a value that is not ours. */
    static Optional<String> holder(@Nullable String value) {
        if (value == null) {
            return Optional.empty();
        }
        try {
            JsonElement parsed = JsonParser.parseString(value);
            JsonElement holder =
                    parsed.isJsonObject() ? parsed.getAsJsonObject().get(HOLDER) : null;
            if (holder instanceof JsonPrimitive text && text.isString()) {
                return Optional.of(text.getAsString());
            }
            return Optional.empty();
        } catch (JsonParseException e) {
            return Optional.empty(); // somebody else's bytes
        }
    }
}
