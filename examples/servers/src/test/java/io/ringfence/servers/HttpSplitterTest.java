package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HttpSplitterTest {

    private static final String TWO =
            "PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\nHost: h\r\n\r\n";

    private final HttpSplitter splitter = new HttpSplitter();

    @Test
    void findsTheSameMessages_howeverTheBytesAreCut() {
        for (int size = 1; size <= TWO.length(); size++) {
            List<RecordedRequest> found = new ArrayList<>();
            HttpSplitter fresh = new HttpSplitter();
            for (int from = 0; from < TWO.length(); from += size) {
                found.addAll(feed(fresh, TWO.substring(from, Math.min(TWO.length(), from + size))));
            }
            assertThat(found)
                    .extracting(RecordedRequest::requestLine)
                    .containsExactly("PUT /a HTTP/1.1", "GET /b HTTP/1.1");
            assertThat(found).extracting(RecordedRequest::body).containsExactly("abc", "");
            assertThat(found).extracting(RecordedRequest::headers).containsExactly("Content-Length: 3", "Host: h");
        }
    }

    @Test
    void keepsEveryByte_forReplay() {
        String request = "PUT /a HTTP/1.1\r\ncontent-length:3\r\n\r\n\u0001\u0002\u0003";
        assertThat(feed(splitter, request).get(0).bytes()).isEqualTo(request.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void endsAChunkedMessage_afterItsLastChunk() {
        String head = "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        assertThat(feed(splitter, head + "2\r\nab\r\n")).isEmpty();
        assertThat(feed(splitter, "0\r\n\r\n")).hasSize(1);
        assertThat(feed(splitter, head + "0\r\n\r\n")).hasSize(1);
    }

    @Test
    void givesUp_whenItIsNotHttp() {
        assertThat(feed(splitter, "\0\0\0\10\4\1\1\1 user postgres")).isEmpty();
        assertThat(feed(splitter, TWO)).isEmpty();
    }

    private static List<RecordedRequest> feed(HttpSplitter splitter, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return splitter.feed(bytes, bytes.length);
    }
}
