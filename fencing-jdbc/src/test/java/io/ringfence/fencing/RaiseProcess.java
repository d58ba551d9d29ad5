package io.ringfence.fencing;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that raises a fence to one token after the other, and prints that it is done. Password: standard input. */
final class RaiseProcess {
    static final String DONE = "done";

    private RaiseProcess() {}

    /** Arguments: JDBC URL, user, tokens. */
    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine());
        ResourceFence fence = ResourceFence.on(source, "invoices");
        for (int i = 2; i < arguments.length; i++) {
            try {
                fence.raise(FakeLease.of(Long.parseLong(arguments[i])));
                System.out.println("raised " + arguments[i]);
            } catch (FencedOutException e) {
                System.out.println(
                        "refused " + arguments[i] + " by " + e.observed().orElseThrow());
            }
        }
        System.out.println(DONE);
    }
}
