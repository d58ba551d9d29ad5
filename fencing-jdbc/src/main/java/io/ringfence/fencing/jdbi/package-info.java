/**
 * Fences what JDBI writes: {@link io.ringfence.fencing.jdbi.JdbiFence} is the plugin, and
 * {@link io.ringfence.fencing.jdbi.Fenced} marks the lease of a SQL object's method. Needs JDBI 3.50 or newer, which is an
 * optional dependency: nothing outside of this package knows it.
 */
@NullMarked
package io.ringfence.fencing.jdbi;

import org.jspecify.annotations.NullMarked;
