package io.ringfence.fencing;

import io.ringfence.election.Lease;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

/** Cancels what is under way with a lease when that is lost; it waits for each lease once, however many transactions. */
final class LossWatch {
    private final ThreadFactory threads;
    private final Set<Lease> watched = ConcurrentHashMap.newKeySet();
    private final Set<Flight> flights = ConcurrentHashMap.newKeySet();

    LossWatch(ThreadFactory threads) {
        this.threads = threads;
    }

    /**
     * Watches a statement that is about to be sent, until {@link #remove}.
     *
     * @throws io.ringfence.election.LeaseLostException if its lease is lost already
     */
    void add(Flight flight) {
        Lease lease = flight.lease();
        if (watched.add(lease)) {
            lease.lost().thenRun(() -> cancelAll(lease));
        }
        flights.add(flight);
        try {
            lease.requireToken(); // after it was added: a loss from now on finds it
        } catch (RuntimeException e) {
            flights.remove(flight);
            throw e;
        }
    }

    void remove(Flight flight) {
        flights.remove(flight);
    }

    /** Called by the thread that found the loss, which has better things to do than to wait for a database. */
    private void cancelAll(Lease lost) {
        watched.remove(lost);
        for (Flight flight : flights) {
            if (flight.lease().equals(lost)) {
                threads.newThread(flight::cancel).start();
            }
        }
    }
}
