package io.ringfence.election.consul;

import io.ringfence.election.FencingToken;

/**
 * Makes tokens from the index that Consul gave a lock, and the epoch that operators give: {@code epoch * 2^47 + index}.
 * Every token of a higher epoch is greater than all of a lower one, so raising the epoch everywhere gets tokens going
 * again after Consul was rebuilt and its indexes started low.
 */
final class FencingTokens {
    static final int HIGHEST_EPOCH = 65_535;

    /** The highest ModifyIndex that leaves room for the epoch. */
    static final long HIGHEST_INDEX = (1L << 47) - 1;

    private FencingTokens() {}

    static FencingToken of(int epoch, long index) {
        return new FencingToken(number(epoch, index));
    }

    static long number(int epoch, long index) {
        return ((long) epoch << 47) + index;
    }
}
