/** Elections on HashiCorp Consul: sessions and locked keys. */
@NullMarked
package io.ringfence.election.consul;

import org.jspecify.annotations.NullMarked;
