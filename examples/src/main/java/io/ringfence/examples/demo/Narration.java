package io.ringfence.examples.demo;

import io.ringfence.election.FencingToken;
import java.util.Locale;

/** One process's lines: when since the demo began, who, with which token, what. */
final class Narration {
    private final String who;
    private final long began;
    private String token = "-";

    /**
     * @param began the begin of the demo in milliseconds of the wall clock, which all its processes share
     */
    Narration(String who, long began) {
        this.who = who;
        this.began = began;
    }

    void leadsWith(FencingToken fencingToken) {
        this.token = fencingToken.toString();
    }

    void say(String what) {
        double seconds = (System.currentTimeMillis() - began) / 1000.0;
        System.out.println(String.format(Locale.ROOT, "%5.1f s  %-6s %5s  %s", seconds, who, token, what));
    }
}
