package io.ringfence.election.testing;

import io.ringfence.election.FencingToken;
import io.ringfence.election.LossReason;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.election.internal.Listeners;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One process: what it holds, and what it knows of that. It renews its session all the time, until it is cut off from the
 * lock service; what happens there meanwhile it learns when it is not cut off any more. Guarded by the world's lock.
 */
final class InMemoryProcess {
    final World world;
    final String holder;
    final Connection connection;
    private final Listeners listeners;

    /** Leases that are held, or lost with work that winds down. */
    private final Map<String, InMemoryLease> leases = new LinkedHashMap<>();

    private final Map<String, Long> highestSeen = new HashMap<>();

    /** Losses that happened while the process is paused: it hears of them when it goes on. */
    private final Queue<Runnable> unheard = new ArrayDeque<>();

    private @Nullable Session session;
    private boolean everAnswered;
    private boolean closed;

    InMemoryProcess(World world, String holder, Listeners listeners) {
        this.world = world;
        this.holder = holder;
        this.connection = new Connection(world);
        this.listeners = listeners;
    }

    // What the test does to it.

    void setPaused(boolean paused) {
        connection.set(paused, connection.link());
        if (!paused) {
            hearLosses();
        }
    }

    void setLink(Connection.Link link) {
        connection.set(connection.isPaused(), link);
        if (connection.isDenied()) {
            endCalls(ticket -> ticket.fail(connection.failure(holder)));
        }
    }

    /** Ends the session at the lock service. */
    void expireSession() {
        if (session == null || session.ended) {
            throw new IllegalStateException("'" + holder + "' has no session now: it contends first");
        }
        world.end(session);
    }

    void lose(String election, LossReason reason) {
        InMemoryLease lease = leases.get(election);
        Key key = world.key(election);
        Session current = session;
        if (lease == null || lease.isLost() || current == null || key.session() != current) {
            throw new IllegalStateException("'" + holder + "' does not hold election '" + election + "' now");
        }
        switch (reason) {
            case SESSION_EXPIRED -> world.end(current);
            case DEADLINE_EXCEEDED, ACCESS_DENIED -> die(current, reason);
            case LOCK_DELETED, LOCK_RELEASED, LOCK_TAKEN -> {
                key.unlock();
                tookAway(current, election, reason);
                if (reason == LossReason.LOCK_TAKEN) {
                    key.lock(new Session(InMemoryElections.SOMEBODY_ELSE), world.takeToken());
                }
            }
            case RELEASED, SHUTDOWN ->
                throw new IllegalArgumentException(
                        "A lease ends with " + reason + " when it, or its Elections, is closed: close that instead");
        }
    }

    /** A key of some session was unlocked in its name, which may be ours. */
    void tookAway(Session from, String election, LossReason reason) {
        InMemoryLease lease = leases.get(election);
        if (from == session && lease != null && lease.takenAway == null) {
            lease.takenAway = reason;
        }
    }

    // What time and the lock service do to it.

    /** Learns what there is to learn. */
    void hear() {
        Session current = session;
        if (current == null) {
            return;
        }
        if (connection.isCutOff()) {
            if (!current.dead && world.now() >= connection.deadline()) {
                die(current, connection.reason());
            }
            if (!current.ended && world.now() >= connection.expiry()) {
                world.end(current);
            }
            return;
        }
        if (current.ended && !current.dead) {
            die(current, LossReason.SESSION_EXPIRED);
        }
        for (InMemoryLease lease : List.copyOf(leases.values())) {
            if (lease.takenAway != null) {
                lose(lease, lease.takenAway);
            }
        }
        if (!current.dead) {
            unlockWhatNobodyOwns(current);
        }
        if (current.dead || closed) {
            world.end(current);
            session = null;
        }
    }

    private void unlockWhatNobodyOwns(Session current) {
        world.forEachKeyOf(current, key -> {
            if (!leases.containsKey(key.election())) {
                key.unlock();
            }
        });
    }

    private void die(Session dying, LossReason reason) {
        dying.dead = true;
        List.copyOf(leases.values()).forEach(lease -> lose(lease, reason));
    }

    private void lose(InMemoryLease lease, LossReason reason) {
        if (!lease.isLost()) {
            lease.markLost(reason);
            if (!lease.isRetained()) {
                leases.remove(lease.election());
            }
            unheard.add(() -> {
                lease.tellRetainer(reason);
                listeners.lost(lease, reason);
                world.callbacks.execute(() -> lease.signalLoss(reason));
            });
            if (!connection.isPaused()) {
                hearLosses();
            }
        }
    }

    private void hearLosses() {
        for (Runnable loss = unheard.poll(); loss != null; loss = unheard.poll()) {
            loss.run();
        }
    }

    /** The next time at which something happens to this process, or the given one. */
    long nextEvent(long latest) {
        long next = latest;
        if (session != null && connection.isCutOff()) {
            next = session.dead ? next : Math.min(next, connection.deadline());
            next = session.ended ? next : Math.min(next, connection.expiry());
        }
        return next;
    }

    boolean isGone() {
        return closed && (session == null || session.ended);
    }

    // What its own code does.

    Ticket contend(String election, Ticket.Mode mode, long deadline) {
        requireOpen();
        Ticket ticket = new Ticket(this, election, mode, deadline);
        InMemoryLease lease = leases.get(election);
        if (lease != null && !lease.isLost()) {
            ticket.refuseFor(lease);
            return ticket;
        }
        if (connection.isCutOff() && (mode == Ticket.Mode.ONCE || connection.isDenied() || !everAnswered)) {
            ticket.fail(connection.failure(holder));
            return ticket;
        }
        everAnswered |= !connection.isCutOff();
        Key key = world.key(election);
        if (key.session() != null && !connection.isCutOff()) {
            see(election, key.token());
        }
        key.add(ticket);
        key.grant();
        if (mode == Ticket.Mode.ONCE) {
            key.remove(ticket);
            ticket.result.complete(Optional.empty());
        }
        return ticket;
    }

    Optional<InMemoryLease> cancel(Ticket ticket) {
        world.key(ticket.election).remove(ticket);
        ticket.result.complete(Optional.empty());
        return ticket.result.isCompletedExceptionally() ? Optional.empty() : ticket.result.join();
    }

    boolean canLead(String election) {
        return !connection.isCutOff() && !leases.containsKey(election);
    }

    /** Grants the key to a call, unless its token is too low. */
    void lead(Ticket ticket, Key key) {
        long token = world.takeToken();
        long seen = highestSeen.getOrDefault(ticket.election, 0L);
        if (token <= seen) {
            key.endAllOf(
                    this,
                    ended -> ended.fail(new TokenRegressionException(
                            "election '" + ticket.election + "'", new FencingToken(token), new FencingToken(seen))));
            return;
        }
        see(ticket.election, token);
        Session current = session == null ? new Session(holder) : session;
        session = current;
        InMemoryLease lease = new InMemoryLease(this, ticket.election, new FencingToken(token));
        leases.put(ticket.election, lease);
        key.remove(ticket);
        key.lock(current, token);
        listeners.acquired(lease);
        ticket.result.complete(Optional.of(lease));
        key.endAllOf(this, ended -> ended.refuseFor(lease));
    }

    void see(String election, long token) {
        if (!connection.isCutOff()) {
            highestSeen.merge(election, token, Math::max);
        }
    }

    void timeOut(Ticket ticket) {
        if (connection.isCutOff()) {
            ticket.fail(connection.failure(holder));
        } else {
            ticket.result.complete(Optional.empty());
        }
    }

    Optional<String> leader(String election) {
        requireOpen();
        if (connection.isCutOff()) {
            throw connection.failure(holder);
        }
        everAnswered = true;
        return Optional.ofNullable(world.key(election).session()).map(leading -> leading.holder);
    }

    /** Ends a lease because its owner wants it; the key stays locked if the lease is retained. */
    void end(InMemoryLease lease, LossReason reason) {
        lose(lease, reason);
        hearLosses(); // also while paused: whoever closes a lease is no frozen process
    }

    void release(InMemoryLease lease) {
        end(lease, LossReason.RELEASED);
        leases.remove(lease.election(), lease);
    }

    void shutDown() {
        closed = true;
        endCalls(ticket -> ticket.fail(closed()));
        List.copyOf(leases.values()).forEach(lease -> end(lease, LossReason.SHUTDOWN));
        leases.clear();
    }

    void requireOpen() {
        if (closed) {
            throw closed();
        }
    }

    private void endCalls(Consumer<Ticket> how) {
        world.forEachKey(key -> key.endAllOf(this, how));
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("These elections are closed. Make new ones to take part again");
    }
}
