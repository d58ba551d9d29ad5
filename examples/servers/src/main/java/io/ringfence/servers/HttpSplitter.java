package io.ringfence.servers;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts the bytes of a keep-alive connection into HTTP/1.1 messages: by Content-Length, or at the last chunk (without
 * trailers). What does not look like HTTP is given up for the rest of the connection. For one thread.
 */
final class HttpSplitter {

    private static final int LONGEST_HEAD = 64 * 1024;
    private static final String HEAD_END = "\r\n\r\n";
    private static final String LAST_CHUNK = "0\r\n\r\n";
    private static final Pattern START = Pattern.compile("^(HTTP/|[A-Z]+ )");
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d{1,9})");
    private static final Pattern CHUNKED = Pattern.compile("(?i)\r\ntransfer-encoding: *chunked");

    private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
    private boolean givenUp;

    /** Takes the next bytes and returns the messages that they complete. */
    List<RecordedRequest> feed(byte[] bytes, int length) {
        List<RecordedRequest> complete = new ArrayList<>();
        if (givenUp) {
            return complete;
        }
        pending.write(bytes, 0, length);
        byte[] all = pending.toByteArray();
        int from = 0;
        for (int end = endOfMessage(all, from); end >= 0; end = endOfMessage(all, from)) {
            int body = headEnd(all, from);
            complete.add(new RecordedRequest(Arrays.copyOfRange(all, from, body), Arrays.copyOfRange(all, body, end)));
            from = end;
        }
        pending.reset();
        if (!givenUp) {
            pending.write(all, from, all.length - from);
        }
        return complete;
    }

    /** Returns the index after the message that starts at {@code from}, or -1 while it is incomplete. */
    private int endOfMessage(byte[] all, int from) {
        int body = headEnd(all, from);
        if (body < 0) {
            String start = latin1(all, from, Math.min(all.length, from + 16));
            givenUp = all.length - from > LONGEST_HEAD
                    || (start.length() == 16 && !START.matcher(start).find());
            return -1;
        }
        String head = latin1(all, from, body);
        if (CHUNKED.matcher(head).find()) {
            String rest = latin1(all, body, all.length);
            int last = rest.startsWith(LAST_CHUNK) ? 0 : rest.indexOf("\r\n" + LAST_CHUNK) + 2;
            return last == 1 ? -1 : body + last + LAST_CHUNK.length();
        }
        Matcher length = LENGTH.matcher(head);
        int end = body + (length.find() ? Integer.parseInt(length.group(1)) : 0);
        return end <= all.length ? end : -1;
    }

    private static int headEnd(byte[] all, int from) {
        int end = latin1(all, from, all.length).indexOf(HEAD_END);
        return end < 0 ? -1 : from + end + HEAD_END.length();
    }

    /** One character for each byte, so that positions in the text are positions in the bytes. */
    private static String latin1(byte[] all, int from, int to) {
        return new String(all, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
