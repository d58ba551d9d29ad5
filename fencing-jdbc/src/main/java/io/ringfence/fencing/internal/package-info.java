/** Machinery that the modules of Ringfence share. Not API: anything in here may change in any release. */
@NullMarked
package io.ringfence.fencing.internal;

import org.jspecify.annotations.NullMarked;
