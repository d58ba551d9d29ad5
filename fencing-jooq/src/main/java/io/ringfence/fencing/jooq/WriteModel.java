package io.ringfence.fencing.jooq;

import io.ringfence.fencing.internal.RowWrite.Found;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.Table;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/** A write as jOOQ's object model has it, and what a fence needs to know of it. */
interface WriteModel {

    /** The table written to, with its alias. */
    Table<?> target();

    QOM.@Nullable With with();

    /** A copy with the fence; the model stays as it is. */
    Query fenced(Field<Long> token);

    /** The rows that were meant, by key. */
    Optional<KeyCondition> key();

    /** The rows that were meant, by everything that the write says of them; empty if it does not say. */
    Optional<Condition> rows();

    /** Whether a row with this key, and no higher token, should have been written. */
    Field<Boolean> matching();

    /** Whether nothing newer being there by key explains that nothing was written. */
    default boolean explains(Found found) {
        return key().isPresent();
    }

    /** Whether rows that a newer leader holds can be told from rows that were not meant. */
    boolean knowsSkipped();

    /** How many rows there are afterwards at least if the count says nothing and they are read back; 0 if it counts. */
    default int readBack() {
        return 0;
    }
}
