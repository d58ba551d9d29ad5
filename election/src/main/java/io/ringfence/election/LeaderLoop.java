package io.ringfence.election;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Does some work whenever this process leads, once per term and on a thread of its own, until it is closed. Made by
 * {@link Election#lead(Work)}.
 *
 * <p><b>A term.</b> The loop acquires, runs the work with the lease, and when the work has returned or thrown anything, it
 * unlocks the key and only then pauses before it contends again. The pause is jittered; it grows while terms are short or
 * the election fails, and starts anew after a term that lasted longer than the longest pause. Exceptions and errors of the
 * work are logged and end its term, never the loop; so do those of the election, for example a
 * {@link TokenRegressionException}.
 *
 * <p><b>Loss.</b> When the lease is lost, the thread of the work is interrupted. The work must end then: it should let
 * {@link InterruptedException} pass, and ask {@link Lease#isHeld()} where it does not block.
 *
 * <p><b>Close.</b> The lease is lost first, with {@link LossReason#RELEASED} or {@link LossReason#SHUTDOWN}; then the work is
 * interrupted; and only when it has ended, its key is unlocked. So in an orderly stop no other process works at the same
 * time.
 *
 * <p><b>Guaranteed.</b> A second term of one loop never starts while the work of the first still runs, and the interrupt
 * flag is clear when the work begins.
 *
 * <p><b>Not guaranteed.</b> Work that ignores the interrupt for longer than the {@linkplain Options#stopTimeout stop
 * timeout} is logged as an error, and its key is unlocked although it still runs. Likewise, work that is slow to notice a
 * loss may overlap with that of the next leader. Only a store that checks the token protects there.
 *
 * <p>Thread-safe. The thread is a daemon thread, so it does not keep the process alive.
 */
public interface LeaderLoop extends AutoCloseable {

    /** {@return the name of the election} */
    String election();

    /**
     * Ends the current term as described above, and the loop with it.
     *
     * <p>Blocks until the work has ended and the key is unlocked, at most the stop timeout and a few request time-outs.
     * Idempotent; concurrent calls wait alike. An interrupt does not shorten the wait and leaves the flag set. If the work
     * itself calls it, it does not wait: the lease is lost, the thread of the work is interrupted soon after, and the key is
     * unlocked when the work has ended or the stop timeout is over.
     */
    @Override
    void close();

    /** What a leader does. */
    @FunctionalInterface
    interface Work {

        /**
         * Does the work of one term. To lead for long, it has to run for long: when it returns, the leadership is given back.
         * The lease need not be closed; if the work closes it, the key is unlocked at once, and the work is interrupted.
         *
         * @param lease the lease of this term, whose token goes into every write
         * @throws Exception to end the term
         */
        void lead(Lease lease) throws Exception;
    }

    /** How a loop behaves. Immutable: each method returns a changed copy. */
    final class Options {
        /** How long work may take to end before its key is unlocked nevertheless, unless {@linkplain #stopTimeout set}. */
        public static final Duration DEFAULT_STOP_TIMEOUT = Duration.ofSeconds(30);

        /** The first pause between terms, unless {@linkplain #backoff set}. */
        public static final Duration DEFAULT_FIRST_PAUSE = Duration.ofSeconds(1);

        /** The longest pause between terms, unless {@linkplain #backoff set}. */
        public static final Duration DEFAULT_LONGEST_PAUSE = Duration.ofSeconds(30);

        private static final Duration LEAST = Duration.ofMillis(1);
        private static final Duration MOST = Duration.ofHours(24);
        private static final Options DEFAULTS =
                new Options(DEFAULT_STOP_TIMEOUT, DEFAULT_FIRST_PAUSE, DEFAULT_LONGEST_PAUSE, Optional.empty());

        private final Duration stopTimeout;
        private final Duration firstPause;
        private final Duration longestPause;
        private final Optional<ElectionListener> listener;

        private Options(
                Duration stopTimeout, Duration firstPause, Duration longestPause, Optional<ElectionListener> listener) {
            this.stopTimeout = stopTimeout;
            this.firstPause = firstPause;
            this.longestPause = longestPause;
            this.listener = listener;
        }

        /** {@return the defaults} */
        public static Options defaults() {
            return DEFAULTS;
        }

        /**
         * Sets how long interrupted work may take to end: 30 seconds by default, 1 millisecond to 24 hours. Work that takes
         * longer is logged as an error and its key is unlocked, so that another process can lead although it still runs.
         *
         * @param timeout the time from the loss of the lease
         * @return changed options
         * @throws IllegalArgumentException if it is out of range
         */
        public Options stopTimeout(Duration timeout) {
            return new Options(inRange("stopTimeout", timeout), firstPause, longestPause, listener);
        }

        /**
         * Sets the pauses between terms: from 1 second to 30 seconds by default, 1 millisecond to 24 hours. A pause is
         * between half and the whole of a step that doubles from the first to the longest.
         *
         * @param first the first step
         * @param longest the last step; a term that lasts longer than this starts the pauses anew
         * @return changed options
         * @throws IllegalArgumentException if one is out of range, or {@code first} is longer than {@code longest}
         */
        public Options backoff(Duration first, Duration longest) {
            if (inRange("The first pause", first).compareTo(inRange("The longest pause", longest)) > 0) {
                throw new IllegalArgumentException(
                        "The first pause must not be longer than the longest, but is " + first + " with " + longest);
            }
            return new Options(stopTimeout, first, longest, listener);
        }

        /**
         * Sets a listener for the leases of this loop only; it is called as {@link ElectionListener} describes.
         *
         * @param listener is told of each term
         * @return changed options
         */
        public Options listener(ElectionListener listener) {
            return new Options(
                    stopTimeout, firstPause, longestPause, Optional.of(Objects.requireNonNull(listener, "listener")));
        }

        /** {@return how long interrupted work may take to end} */
        public Duration stopTimeout() {
            return stopTimeout;
        }

        /** {@return the first step of the pauses between terms} */
        public Duration firstPause() {
            return firstPause;
        }

        /** {@return the longest step of the pauses between terms} */
        public Duration longestPause() {
            return longestPause;
        }

        /** {@return the listener of this loop, if there is one} */
        public Optional<ElectionListener> listener() {
            return listener;
        }

        /** Returns the durations. */
        @Override
        public String toString() {
            return "Options[stopTimeout=" + stopTimeout + ", backoff=" + firstPause + ".." + longestPause + "]";
        }

        private static Duration inRange(String option, Duration value) {
            Objects.requireNonNull(value, option);
            if (value.compareTo(LEAST) < 0 || value.compareTo(MOST) > 0) {
                throw new IllegalArgumentException(
                        option + " must be between " + LEAST + " and " + MOST + ", but is " + value);
            }
            return value;
        }
    }
}
