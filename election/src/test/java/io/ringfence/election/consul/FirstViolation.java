package io.ringfence.election.consul;

import java.util.function.BiFunction;

/**
 * Runs so many histories with faults of that name; returns how one failed, or an empty text. Public, for it is called from
 * outside its class loader.
 */
public final class FirstViolation implements BiFunction<String, Integer, String> {
    /** Creates one. */
    public FirstViolation() {}

    @Override
    public String apply(String faults, Integer histories) {
        try {
            Tally unused = Histories.run(0, histories, Faults.valueOf(faults));
            return "";
        } catch (AssertionError e) {
            return String.valueOf(e.getMessage());
        }
    }
}
