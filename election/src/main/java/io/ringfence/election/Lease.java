package io.ringfence.election;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One term of leadership, from {@link Election#acquire()} until it is lost or closed.
 *
 * <p><b>Guaranteed.</b> The token never changes. Loss is final: a lease that was lost once is never held again, whatever
 * Consul answers later. {@link #isHeld()} and {@link #requireToken()} compare the deadline with the clock at the moment
 * of the call, so a call that <i>starts</i> after the process was frozen past its lease says "lost", even if nothing
 * else in this process has noticed yet. There is exactly one loss for each lease.
 *
 * <p><b>Not guaranteed.</b> The process may be frozen right after {@code isHeld()} has answered {@code true}; what it
 * then does is the work of a former leader. Only a store that checks the {@linkplain #fencingToken() token} can refuse
 * that. A suspend of the machine that stops both of its clocks is not seen until the next answer of Consul.
 *
 * <p>Thread-safe. No method blocks, except {@link #confirm()} and {@link #close()}.
 */
public interface Lease extends FencingTokenSource, AutoCloseable {

    /** {@return the name of the election that this lease was won in} */
    String election();

    /** {@return the token of this term, also after the lease was lost: for logs and messages} */
    FencingToken fencingToken();

    /**
     * Returns the token of this term if the lease is held now.
     *
     * @return the token
     * @throws LeaseLostException if the lease is lost or closed
     */
    @Override
    FencingToken requireToken();

    /** {@return whether the lease is held, judged by the clock at the time of this call} */
    boolean isHeld();

    /**
     * Returns how long the lease stays held if Consul never answers again; zero if it is lost. Renewals extend it, so
     * this is no promise about when leadership ends.
     *
     * @return the time left, at least zero
     */
    Duration remaining();

    /**
     * Returns a stage that completes once, with the reason, when the lease is lost or closed. It never completes
     * exceptionally, and whoever completes the returned stage changes nothing about the lease.
     *
     * <p>Dependent actions run on one of a few callback threads of the {@link Elections}, never in the thread that
     * called {@link #isHeld()}; one that is attached after the loss runs in the thread that attaches it. An action that
     * blocks holds one of these threads, and several of them hold up the signals of other leases: let it run elsewhere
     * ({@code thenAcceptAsync(action, executor)}) if it may block. What an action throws goes to the stage it
     * returned, as {@link CompletionStage} says, and disturbs nothing else.
     *
     * @return the stage
     */
    CompletionStage<LossReason> lost();

    /** {@return why the lease was lost, or empty while it is held, judged by the clock at the time of this call} */
    Optional<LossReason> lossReason();

    /** {@return the identity that this process leads under, as {@link Election#leader()} shows it to others} */
    String holder();

    /**
     * Asks Consul, now and with a consistent read, whether this lease's session holds the key.
     *
     * <p>Blocks for one request, at most for two request time-outs. An interrupt while waiting ends the wait: the answer
     * is then {@link Confirmation#UNKNOWN} and the interrupt flag is set.
     *
     * @return {@link Confirmation#CONFIRMED} if Consul says so and the lease was lost neither before nor after the
     *     answer; {@link Confirmation#LOST} if the lease is lost; {@link Confirmation#UNKNOWN} if Consul gave no usable
     *     answer, or says that the key is not ours, which ends the lease as soon as that is certain
     */
    Confirmation confirm();

    /**
     * Gives the leadership back: the lease is lost at once with {@link LossReason#RELEASED}, then the key is unlocked.
     *
     * <p>Blocks until Consul has confirmed the unlock, but not longer than about two request time-outs; after that the
     * unlock goes on in the background. Repeated and concurrent calls are harmless, and so is a call from a dependent
     * action of {@link #lost()}. An interrupt ends the wait, not the release, and leaves the interrupt flag set. Never
     * throws because of Consul.
     */
    @Override
    void close();

    /** What {@link #confirm()} found out. */
    enum Confirmation {
        /** Consul says that this lease holds the key, and the lease is still held. */
        CONFIRMED,
        /** The lease is lost. */
        LOST,
        /** Consul did not answer, or not in a way that decides. */
        UNKNOWN
    }
}
