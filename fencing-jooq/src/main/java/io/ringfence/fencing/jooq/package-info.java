/** Database writes that a stale leader cannot make, for jOOQ; see {@link io.ringfence.fencing.jooq.JooqFence}. */
@NullMarked
package io.ringfence.fencing.jooq;

import org.jspecify.annotations.NullMarked;
