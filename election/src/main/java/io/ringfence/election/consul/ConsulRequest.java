package io.ringfence.election.consul;

import java.util.List;

/** Everything that is ever asked of Consul. The generation tells which of our sessions a request belongs to. */
sealed interface ConsulRequest {

    record CreateSession(long generation) implements ConsulRequest {}

    record RenewSession(long generation, String session) implements ConsulRequest {}

    record DestroySession(String session) implements ConsulRequest {}

    /** A request about one key, or several, whose answer goes to the key's slot. */
    sealed interface OnKey extends ConsulRequest {
        String key();
    }

    /** Locks the key if it is still as {@code guard} says: a late duplicate of this request then does nothing. */
    record Lock(long generation, String session, KeyState guard) implements OnKey {
        @Override
        public String key() {
            return guard.key();
        }
    }

    /** Unlocks the key if its index is still that of {@code guard}. */
    record Unlock(long generation, String session, KeyState guard) implements OnKey {
        @Override
        public String key() {
            return guard.key();
        }
    }

    /** Reads one key consistently. */
    record Read(String key) implements OnKey {}

    /** Unlocks up to 64 keys in one transaction, all or none. */
    record UnlockAll(long generation, String session, List<KeyState> guards) implements ConsulRequest {}

    /** Lists the keys under our prefix as soon as something there is newer than {@code index}, or its wait is over. */
    record Watch(long index) implements ConsulRequest {}
}
