package io.ringfence.fencing.jooq;

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

    /** Whether rows that a newer leader holds can be told from rows that were not meant. */
    boolean knowsSkipped();

    /** Whether the count says nothing, so that the rows are read back. */
    default boolean isReadBack() {
        return false;
    }
}
