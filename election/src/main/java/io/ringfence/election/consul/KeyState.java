package io.ringfence.election.consul;

import org.jspecify.annotations.Nullable;

/**
 * What a read said about a key.
 *
 * @param index the key's ModifyIndex; for an absent key the index that the answer is as new as
 * @param session the session that holds the key
 * @param value the decoded value
 */
record KeyState(
        String key,
        boolean exists,
        long index,
        @Nullable String session,
        @Nullable String value) {

    static KeyState absent(String key, long index) {
        return new KeyState(key, false, index, null, null);
    }

    static KeyState heldBy(String session, String key, long index) {
        return new KeyState(key, true, index, session, null);
    }

    static KeyState unlocked(String key, long index) {
        return new KeyState(key, true, index, null, null);
    }

    boolean isFree() {
        return session == null;
    }
}
