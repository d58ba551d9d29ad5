/** The paused-leader demo: what a frozen leader does to a database when it wakes up, with a fence and without. */
@NullMarked
package io.ringfence.examples.demo;

import org.jspecify.annotations.NullMarked;
