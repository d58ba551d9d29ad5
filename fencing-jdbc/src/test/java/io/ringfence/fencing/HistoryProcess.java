package io.ringfence.fencing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A {@link HistoryWriter} that is a process of its own, and so can be frozen and killed. It reads the password and then
 * the tokens from its standard input, and stops when that ends or says so; it prints the outcomes.
 */
final class HistoryProcess {
    static final String STOP = "stop";
    static final String STOPPED = "stopped";

    private HistoryProcess() {}

    /** Arguments: JDBC URL, user, id, mode, seed. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String password = input.readLine();
        AtomicLong token = new AtomicLong(Long.parseLong(input.readLine()));
        AtomicBoolean stopped = new AtomicBoolean();
        Thread reader = new Thread(() -> read(input, token, stopped), "tokens");
        reader.setDaemon(true);
        reader.start();
        SealMode mode = arguments[3].equals(HistoryWriter.mode(null)) ? null : SealMode.valueOf(arguments[3]);
        try (Connection connection = DriverManager.getConnection(arguments[0], arguments[1], password)) {
            new HistoryWriter(
                            Integer.parseInt(arguments[2]),
                            connection,
                            mode,
                            token::get,
                            HistoryWriter::sleep,
                            new Random(Long.parseLong(arguments[4])))
                    .run(stopped::get, System.out::println);
        }
        System.out.println(STOPPED);
    }

    private static void read(BufferedReader input, AtomicLong token, AtomicBoolean stopped) {
        try {
            for (String line = input.readLine(); line != null && !line.equals(STOP); line = input.readLine()) {
                token.set(Long.parseLong(line));
            }
        } catch (IOException e) {
            // whoever started us is gone
        }
        stopped.set(true);
    }
}
