/**
 * Database writes that a stale leader cannot make, for plain JDBC and PostgreSQL.
 *
 * <p>{@link io.ringfence.fencing.ResourceFence} fences whole transactions and is the one to start with;
 * {@link io.ringfence.fencing.RowFence} fences single rows, and {@link io.ringfence.fencing.FenceSchema} prints the DDL
 * that both need.
 */
@NullMarked
package io.ringfence.fencing;

import org.jspecify.annotations.NullMarked;
