package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A fenced write changed nothing, or a fenced transaction was not committed; {@link #reason()} says why.
 *
 * <p>The harmless case, a row that is simply not there, is the subclass {@link NoMatchingRowException}: catch that one
 * first. If a part was written, it is the subclass {@link PartiallyFencedException}. After any other reason this process must assume that somebody else leads, and end its term.
 *
 * <p>Thrown by {@link RowFence} in the caller's own transaction it cannot undo what the transaction did before: let it
 * propagate and roll back. Inside {@link ResourceFence#inTransaction} the commit is refused even if it is swallowed.
 */
public class FencedOutException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The table or the resource that refused. */
    private final String target;

    /** The row in question, if known. */
    private final @Nullable String key;

    /** The token that the write came with. */
    private final long presented;

    /** The token that was found in the database, if one was. */
    private final @Nullable Long observed;

    /** Why the write was refused. */
    private final Reason reason;

    /** The refused entries of a batch. */
    private final int[] entries;

    /**
     * Creates an exception.
     *
     * @param message what was refused, by what, and what to do next
     * @param target the table or the resource that refused, for example {@code table invoice}
     * @param key the row in question, for example {@code id = 7}, if known
     * @param presented the token that the write came with
     * @param observed the token that was found in the database, if one was
     * @param reason why the write was refused
     */
    public FencedOutException(
            String message,
            String target,
            @Nullable String key,
            FencingToken presented,
            @Nullable Long observed,
            Reason reason) {
        this(message, target, key, presented, observed, reason, List.of());
    }

    /**
     * Creates an exception for a batch.
     *
     * @param message what was refused, by what, and what to do next
     * @param target the table
     * @param key the first row in question, if known
     * @param presented the token that the batch came with
     * @param observed the token that was found there, if one was
     * @param reason why the first entry was refused
     * @param entries which entries were refused, counted from 0
     */
    public FencedOutException(
            String message,
            String target,
            @Nullable String key,
            FencingToken presented,
            @Nullable Long observed,
            Reason reason,
            List<Integer> entries) {
        super(message, null);
        this.target = Objects.requireNonNull(target, "target");
        this.key = key;
        this.presented = presented.value();
        this.observed = observed;
        this.reason = Objects.requireNonNull(reason, "reason");
        this.entries = entries.stream().mapToInt(Integer::intValue).toArray();
    }

    /** {@return the table or the resource that refused, for example {@code table invoice}} */
    public String target() {
        return target;
    }

    /** {@return the row in question, for example {@code id = 7}; empty if no key was declared or found} */
    public Optional<String> key() {
        return Optional.ofNullable(key);
    }

    /** {@return the token that the write came with} */
    public FencingToken presented() {
        return new FencingToken(presented);
    }

    /** {@return the token that was found in the database, 0 for a row that no leader has written; empty if none was} */
    public OptionalLong observed() {
        return observed == null ? OptionalLong.empty() : OptionalLong.of(observed);
    }

    /** {@return why the write was refused} */
    public Reason reason() {
        return reason;
    }

    /** {@return the refused entries of a {@link FencedBatch}, counted from 0 and rising; empty if it was no batch} */
    public List<Integer> entries() {
        return Arrays.stream(entries).boxed().toList();
    }

    /**
     * Digs the first {@code FencedOutException} out of whatever a framework wrapped around it: causes, suppressed
     * exceptions and {@link SQLException#getNextException()}, at any depth, cycles included.
     *
     * @param failure what was caught
     * @return the nearest one, the argument itself included
     */
    public static Optional<FencedOutException> find(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        while (!open.isEmpty()) {
            Throwable next = open.remove();
            if (next instanceof FencedOutException found) {
                return Optional.of(found);
            }
            if (seen.add(next)) {
                addIfPresent(open, next.getCause());
                if (next instanceof SQLException sql) {
                    addIfPresent(open, sql.getNextException());
                }
                Collections.addAll(open, next.getSuppressed());
            }
        }
        return Optional.empty();
    }

    private static void addIfPresent(Deque<Throwable> open, @Nullable Throwable failure) {
        if (failure != null) {
            open.add(failure);
        }
    }

    /** Why a fenced write was refused. */
    public enum Reason {
        /** A higher token was read: a newer leader has been here. */
        SUPERSEDED,
        /** Nothing was written, and it cannot be told whether a newer leader is the cause. */
        UNKNOWN,
        /** The resource fence is missing or lower than our token: {@link ResourceFence#raise} was not called. */
        NOT_RAISED,
        /** The row is missing or another condition of the statement is false; nothing newer was seen. */
        NO_MATCHING_ROW
    }
}
