package io.ringfence.election.consul;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Everything that Consul can answer, already classified. */
sealed interface ConsulAnswer {

    record SessionCreated(String session) implements ConsulAnswer {}

    /** The request was carried out and tells nothing more. */
    record Done() implements ConsulAnswer {}

    /** The session to renew does not exist any more. */
    record SessionGone() implements ConsulAnswer {}

    /** A lock or unlock was carried out, and the key now has this index. */
    record KeyChanged(long index) implements ConsulAnswer {}

    /** A transaction was refused as a whole, so nothing changed. */
    record Refused(Refusal refusal, String message) implements ConsulAnswer {}

    record KeyRead(KeyState state) implements ConsulAnswer {}

    record KeyList(long index, List<KeyState> keys, long bytes) implements ConsulAnswer {}

    /** The ACL token does not allow it. */
    record Denied(String message) implements ConsulAnswer {}

    /** Consul understood the request and will never accept it. */
    record Rejected(String message) implements ConsulAnswer {}

    /** No usable answer: what was asked may have happened, may still happen, or may not. */
    record Failed(String message, @Nullable Throwable cause) implements ConsulAnswer {}

    /** Why a transaction was refused. */
    enum Refusal {
        HELD,
        LOCK_DELAY,
        INVALID_SESSION,
        /** The key is not as the guard says, or anything else. */
        GUARD
    }
}
