package io.ringfence.election.internal;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What goes to the standard error, where tests log to. Who uses it locks that resource against other users. */
final class LogCapture extends OutputStream {
    private final ByteArrayOutputStream heard = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    static LogCapture start() {
        LogCapture capture = new LogCapture();
        System.setErr(new PrintStream(capture, true, StandardCharsets.UTF_8));
        return capture;
    }

    @Override
    public void write(int b) {
        heard.write(b);
        before.write(b);
    }

    String stop() {
        System.setErr(before);
        return heard.toString(StandardCharsets.UTF_8);
    }
}
