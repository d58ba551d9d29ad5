/** One small program for each way to use Ringfence. */
@NullMarked
package io.ringfence.examples;

import org.jspecify.annotations.NullMarked;
