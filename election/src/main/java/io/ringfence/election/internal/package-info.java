/**
 * What implementations of {@link io.ringfence.election.Elections} have in common. Not API: it may change or disappear in
 * any release.
 */
@NullMarked
package io.ringfence.election.internal;

import org.jspecify.annotations.NullMarked;
