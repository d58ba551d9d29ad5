/**
 * Elections in memory with a clock that stands still until a test moves it: for tests of code that leads.
 */
@NullMarked
package io.ringfence.election.testing;

import org.jspecify.annotations.NullMarked;
