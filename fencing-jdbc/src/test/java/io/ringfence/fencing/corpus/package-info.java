/** What becomes of a few hundred statements, and of many more that are made from them. */
@NullMarked
package io.ringfence.fencing.corpus;

import org.jspecify.annotations.NullMarked;
