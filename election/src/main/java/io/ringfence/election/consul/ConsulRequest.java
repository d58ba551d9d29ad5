package io.ringfence.election.consul;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Everything that is ever asked of Consul. The generation tells which of our sessions a request belongs to. */
sealed interface ConsulRequest {

    /** Whether its answer, or the lack of one, tells if Consul can be used. */
    default boolean showsWhetherConsulAnswers() {
        return true;
    }

    /** A request whose answer says little: from one agent alone, or one that nobody waits for. */
    sealed interface Aside extends ConsulRequest {
        @Override
        default boolean showsWhetherConsulAnswers() {
            return false;
        }
    }

    /** Makes a session; with a check, registers this at an agent first and binds the session to it. */
    record CreateSession(long generation, @Nullable String check) implements ConsulRequest {}

    record RenewSession(long generation, String session) implements ConsulRequest {}

    /** Registers the check at one agent, as passing. */
    record Register(String check) implements Aside {}

    /** Tells the agent that has the check that this process lives. */
    record Heartbeat(long generation, String check) implements Aside {}

    record DestroySession(String session, @Nullable String check) implements Aside {}

    /** Removes the check from its agent. */
    record Deregister(String check) implements Aside {}

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
    record Watch(long index) implements Aside {}
}
