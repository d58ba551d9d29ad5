/** Real servers for tests and examples, and the means to freeze, kill and cut them off. */
@NullMarked
package io.ringfence.servers;

import org.jspecify.annotations.NullMarked;
