package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.FencingToken;
import io.ringfence.election.TokenRegressionException;

/** The highest token that this process has seen for one key, whoever had it. Guarded by the machine's lock. */
final class SeenTokens {
    private final String election;
    private final int epoch;
    private long highest;

    SeenTokens(String election, int epoch) {
        this.election = election;
        this.epoch = epoch;
    }

    void see(KeyState state) {
        if (state.exists()) {
            highest = Math.max(highest, FencingTokens.number(HolderValue.epoch(state.value()), state.index()));
        }
    }

    /** The key has this index because of something that we did. */
    void seeOwn(long index) {
        highest = Math.max(highest, FencingTokens.number(epoch, index));
    }

    FencingToken tokenOf(KeyState locked) {
        return FencingTokens.of(epoch, locked.index());
    }

    boolean isGreaterThanAll(FencingToken token) {
        return token.value() > highest;
    }

    TokenRegressionException regression(FencingToken token) {
        return new TokenRegressionException("election '" + election + "'", token, new FencingToken(highest));
    }

    boolean isOfHigherEpoch(KeyState state) {
        return HolderValue.epoch(state.value()) > epoch;
    }

    ElectionException epochTooLow(KeyState state) {
        int seen = HolderValue.epoch(state.value());
        return new ElectionException(
                "This process has epoch " + epoch + " and does not contend for election '" + election
                        + "', whose last leader had epoch " + seen + ". Set epoch(" + seen + ") for all processes",
                null);
    }
}
