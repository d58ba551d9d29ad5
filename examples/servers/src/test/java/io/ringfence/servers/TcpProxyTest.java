package io.ringfence.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Queue<String> served = new ConcurrentLinkedQueue<>();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private HttpServer server;
    private TcpProxy proxy;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.createContext("/", this::serve);
        server.start();
        proxy = TcpProxy.to(server.getAddress().getPort());
    }

    @AfterEach
    void stop() {
        proxy.close();
        server.stop(0);
    }

    @Test
    void passesRequestsAndAnswers_andRecordsThem_onOneKeptConnection() throws Exception {
        assertThat(put("/a", "one").body()).isEqualTo("served /a");
        assertThat(put("/b", "zwei: \u00e4").body()).isEqualTo("served /b");

        assertThat(proxy.requests())
                .extracting(RecordedRequest::requestLine)
                .containsExactly("PUT /a HTTP/1.1", "PUT /b HTTP/1.1");
        RecordedRequest last = proxy.requests().get(1);
        assertThat(last.body()).isEqualTo("zwei: \u00e4");
        assertThat(last.headers().toLowerCase(Locale.ROOT)).contains("content-length: 8");
        assertThat(proxy.openConnections()).isEqualTo(1);
        assertThat(proxy.maxOpenConnections()).isEqualTo(1);

        proxy.clearRequests();
        assertThat(proxy.requests()).isEmpty();
    }

    @Test
    void swallowsBytesOfOldAndNewConnections_inABlackHole() throws Exception {
        put("/before", "");
        proxy.blackHole();
        assertThatThrownBy(() -> put("/old-connection", "")).isInstanceOf(HttpTimeoutException.class);
        assertThatThrownBy(() -> put("/new-connection", "")).isInstanceOf(HttpTimeoutException.class);
        assertThat(served).containsExactly("PUT /before");
        assertThat(proxy.requests()).hasSize(1);

        proxy.pass();
        assertThat(put("/after", "").body()).isEqualTo("served /after");
    }

    @Test
    void swallowsTheAnswer_whenTheBlackHoleOpensAfterTheRequest() throws Exception {
        proxy.delay(Duration.ofMillis(300));
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request("/x", ""), BodyHandlers.ofString());
        await().until(() -> served.contains("PUT /x"));
        proxy.blackHole();
        assertThatThrownBy(answer::get).hasCauseInstanceOf(HttpTimeoutException.class);
    }

    @Test
    void delaysEachAnswerOnce_howeverManyPiecesItHas() throws Exception {
        put("/before", "");
        proxy.delay(Duration.ofMillis(300));
        long start = System.nanoTime();
        assertThat(put("/large", "").body()).hasSizeGreaterThan(200_000);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(300), Duration.ofMillis(900));
    }

    @Test
    void answersOneRequestWithAnError_thatTheServerHasCarriedOut() throws Exception {
        CompletableFuture<Void> arrived = proxy.failNextAnswer(line -> line.startsWith("PUT /b"), 503);
        assertThat(put("/a", "").statusCode()).isEqualTo(200);
        HttpResponse<String> failed = put("/b", "");
        assertThat(failed.statusCode()).isEqualTo(503);
        assertThat(failed.body()).isEqualTo("error");
        assertThat(arrived).succeedsWithin(PATIENCE);
        assertThat(served).contains("PUT /b");
        assertThat(put("/b", "").statusCode()).isEqualTo(200);
    }

    @Test
    void countsTheBytesOfAnswers() throws Exception {
        put("/large", "");
        assertThat(proxy.answeredBytes()).isBetween(200_000L, 300_000L);
    }

    @Test
    void closesConnectionsThatExist_whenCut_andServesNewOnes() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            await().until(() -> proxy.openConnections() == 1);
            proxy.cut();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(proxy.openConnections()).isZero();
        assertThat(put("/after", "").body()).isEqualTo("served /after");
    }

    @Test
    void refusesConnections_andListensOnTheSamePortAgain() throws Exception {
        int port = proxy.port();
        proxy.refuse();
        assertThatThrownBy(() -> put("/refused", "")).isInstanceOf(ConnectException.class);
        proxy.pass();
        assertThat(proxy.port()).isEqualTo(port);
        assertThat(put("/after", "").body()).isEqualTo("served /after");
    }

    @Test
    void losesOneAnswer_afterTheServerActed() throws Exception {
        CompletableFuture<Void> lost = proxy.loseNextAnswer(line -> line.startsWith("PUT /lost"));
        assertThat(put("/other", "").body()).isEqualTo("served /other");
        assertThat(lost).isNotDone();

        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/lost", "body"), BodyHandlers.ofString());
        assertThatThrownBy(answer::get).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(IOException.class);
        lost.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(served).contains("PUT /lost");
        assertThat(put("/lost", "").body()).isEqualTo("served /lost");
    }

    @Test
    void holdsOneAnswer_untilItIsReleased() throws Exception {
        HeldAnswer held = proxy.holdNextAnswer(line -> line.startsWith("PUT /held"));
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/held", ""), BodyHandlers.ofString());
        held.awaitArrival(PATIENCE);
        assertThat(served).contains("PUT /held");
        assertThat(answer).isNotDone();
        held.release();
        assertThat(answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo("served /held");
    }

    @Test
    void keepsRequestsOnTheirWay_untilItMayPassThem() throws Exception {
        put("/before", "");
        proxy.delay(Duration.ofMillis(300));
        CompletableFuture<HttpResponse<String>> sentBefore =
                client.sendAsync(request("/sent-before", ""), BodyHandlers.ofString());
        await().until(() -> served.contains("PUT /sent-before"));

        proxy.holdRequests();
        assertThatThrownBy(() -> put("/held", "")).isInstanceOf(HttpTimeoutException.class);
        assertThat(sentBefore.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).body())
                .isEqualTo("served /sent-before");
        CompletableFuture<HttpResponse<String>> held = client.sendAsync(
                HttpRequest.newBuilder(URI.create(proxy.url() + "/later")).build(), BodyHandlers.ofString());
        await().until(() -> proxy.openConnections() > 0);
        assertThat(served).containsExactly("PUT /before", "PUT /sent-before");

        proxy.pass();
        assertThat(held.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo("served /later");
    }

    @Test
    void replaysARecordedRequest_withoutItsClient() throws Exception {
        put("/a", "body");
        proxy.refuse();
        assertThat(proxy.replay(proxy.requests().get(0)))
                .startsWith("HTTP/1.1 200")
                .endsWith("served /a");
        assertThat(served).containsExactly("PUT /a", "PUT /a");
    }

    @Test
    void recordsChunkedRequests_andThoseThatFollow() throws Exception {
        HttpRequest chunked = HttpRequest.newBuilder(URI.create(proxy.url() + "/chunked"))
                .PUT(BodyPublishers.fromPublisher(
                        BodyPublishers.ofByteArrays(List.of("ab".getBytes(StandardCharsets.UTF_8)))))
                .build();
        client.send(chunked, BodyHandlers.ofString());
        put("/next", "");
        assertThat(proxy.requests()).extracting(RecordedRequest::body).containsExactly("2\r\nab\r\n0\r\n\r\n", "");
    }

    @Test
    void closesTheClient_whenNobodyListensBehindIt() throws Exception {
        server.stop(0);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        exchange.getRequestBody().readAllBytes();
        served.add(exchange.getRequestMethod() + " " + path);
        String body = path.equals("/large") ? "x".repeat(1 << 18) : "served " + path;
        exchange.sendResponseHeaders(200, body.length());
        exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
        exchange.close();
    }

    private HttpResponse<String> put(String path, String body) throws IOException, InterruptedException {
        return client.send(request(path, body), BodyHandlers.ofString());
    }

    private HttpRequest request(String path, String body) {
        return HttpRequest.newBuilder(URI.create(proxy.url() + path))
                .timeout(Duration.ofSeconds(1))
                .PUT(BodyPublishers.ofString(body))
                .build();
    }
}
