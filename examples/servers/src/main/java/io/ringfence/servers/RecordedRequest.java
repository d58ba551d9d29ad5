package io.ringfence.servers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** An HTTP/1.1 request as it went through a {@link TcpProxy}, byte for byte. Immutable. */
public final class RecordedRequest {

    private final byte[] head;
    private final byte[] body;
    private final long nanoTime = System.nanoTime();

    RecordedRequest(byte[] head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /** Returns the first line, such as {@code PUT /v1/kv/key HTTP/1.1}. */
    public String requestLine() {
        return text(head).lines().findFirst().orElse("");
    }

    /** Returns the header lines as they were sent, without the request line and without the empty line at the end. */
    public String headers() {
        String text = text(head).stripTrailing();
        int firstEnd = text.indexOf("\r\n");
        return firstEnd < 0 ? "" : text.substring(firstEnd + 2);
    }

    /** Returns the body, read as UTF-8; that of a chunked request still has its chunk sizes in it. */
    public String body() {
        return text(body);
    }

    /** Returns how much later than another request, of any proxy in this JVM, this one arrived at its proxy. */
    public Duration after(RecordedRequest earlier) {
        return Duration.ofNanos(nanoTime - earlier.nanoTime);
    }

    @Override
    public String toString() {
        return requestLine();
    }

    byte[] bytes() {
        byte[] bytes = new byte[head.length + body.length];
        System.arraycopy(head, 0, bytes, 0, head.length);
        System.arraycopy(body, 0, bytes, head.length, body.length);
        return bytes;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
