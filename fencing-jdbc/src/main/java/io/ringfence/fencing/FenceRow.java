package io.ringfence.fencing;

/** What a fence row says. */
record FenceRow(String election, long token, String holder) {}
