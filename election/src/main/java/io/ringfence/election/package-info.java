/**
 * Leader election whose result is a {@link io.ringfence.election.Lease lease} with a
 * {@link io.ringfence.election.FencingToken fencing token}. Nothing in here knows about databases.
 */
@NullMarked
package io.ringfence.election;

import org.jspecify.annotations.NullMarked;
