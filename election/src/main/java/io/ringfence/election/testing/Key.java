package io.ringfence.election.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One key of the lock service: who holds it, and who waits for it. Guarded by the world's lock. */
final class Key {
    private final World world;
    private final String election;
    private final List<Ticket> waiting = new ArrayList<>();
    private @Nullable Session session;
    private long token;

    /** The end of the lock delay. */
    private long freeFrom;

    Key(World world, String election) {
        this.world = world;
        this.election = election;
    }

    String election() {
        return election;
    }

    @Nullable
    Session session() {
        return session;
    }

    /** The token of whoever holds the key. */
    long token() {
        return token;
    }

    boolean isFree() {
        return session == null && freeFrom <= world.now();
    }

    void lock(Session by, long withToken) {
        session = by;
        token = withToken;
        waiting.forEach(ticket -> ticket.process.see(election, withToken));
    }

    void unlock() {
        session = null;
    }

    /** Frees the key after a session ended without an unlock. */
    void unlockAfterDelay() {
        session = null;
        freeFrom = world.now() + world.lockDelay.toNanos();
    }

    void add(Ticket ticket) {
        waiting.add(ticket);
    }

    void remove(Ticket ticket) {
        waiting.remove(ticket);
    }

    /** Lets whoever has waited longest lead, of those that can. */
    void grant() {
        while (isFree()) {
            Optional<Ticket> next = waiting.stream()
                    .filter(ticket -> ticket.process.canLead(election))
                    .findFirst();
            if (next.isEmpty()) {
                return;
            }
            next.get().process.lead(next.get(), this);
        }
    }

    /** Ends the calls whose time is up. */
    void timeOut() {
        end(ticket -> ticket.deadline <= world.now(), ticket -> ticket.process.timeOut(ticket));
    }

    /** Ends the calls of a process in some way. */
    void endAllOf(InMemoryProcess process, Consumer<Ticket> how) {
        end(ticket -> ticket.process == process, how);
    }

    private void end(Predicate<Ticket> which, Consumer<Ticket> how) {
        List<Ticket> ended = waiting.stream().filter(which).toList();
        waiting.removeAll(ended);
        ended.forEach(how);
    }

    /** The next time at which something happens to this key, or the given one. */
    long nextEvent(long latest) {
        long next = session == null && freeFrom > world.now() ? Math.min(freeFrom, latest) : latest;
        for (Ticket ticket : waiting) {
            next = Math.min(next, ticket.deadline);
        }
        return next;
    }
}
