package io.ringfence.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A TCP proxy on the loopback interface that does to a connection what a bad network does.
 *
 * <p>It starts in mode {@link #pass()}. {@link #pass()}, {@link #blackHole()}, {@link #holdRequests()}, {@link #delay} and
 * {@link #refuse()} each replace the mode before. It passes any protocol on, and records requests if they are HTTP/1.1 (without
 * pipelining, trailers and TLS); only what was passed on is recorded.
 *
 * <p>Thread-safe. Its threads are daemons.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int REPLAY_MILLIS = 30_000;

    private volatile InetSocketAddress target;
    private final ProxyRules rules = new ProxyRules();
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger mostConnections = new AtomicInteger();
    private final AtomicInteger acceptedConnections = new AtomicInteger();
    private final ProxyListener listener = new ProxyListener(this::accept);

    private TcpProxy(InetSocketAddress target) {
        this.target = target;
        listener.open();
    }

    /** Starts a proxy in front of a port of the loopback interface. */
    public static TcpProxy to(int port) {
        return new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** Starts a proxy in front of a server, which need not answer yet. */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(host, port));
    }

    /** Returns the port that the proxy listens on. */
    public int port() {
        return listener.port();
    }

    /** Returns the proxy's address for HTTP, such as {@code http://127.0.0.1:8500}. */
    public String url() {
        return "http://127.0.0.1:" + port();
    }

    /** Leads new connections to another port of the loopback interface; existing ones go on, see {@link #cut()}. */
    public void forwardTo(int port) {
        target = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Passes everything on, from now and also on connections that exist, unless they lost bytes in a black hole. */
    public void pass() {
        rules.set(false, Duration.ZERO);
        listener.open();
    }

    /**
     * Swallows what either side sends, on existing connections too, and accepts new ones: nobody is told. A connection
     * that lost bytes, or was made meanwhile, stays silent after the mode has changed.
     */
    public void blackHole() {
        rules.set(true, Duration.ZERO);
        listener.open();
    }

    /**
     * Keeps back what clients send, on existing connections too, and sends it on after the mode has changed. Answers
     * still come through: bytes are on their way, and their sender has no way to tell.
     */
    public void holdRequests() {
        rules.holdRequests();
        listener.open();
    }

    /** Passes everything on, each answer later by {@code delay}. */
    public void delay(Duration delay) {
        rules.set(false, delay);
        listener.open();
    }

    /** Refuses new connections, as the port of a dead server does. Existing ones go on; see {@link #cut()}. */
    public void refuse() {
        rules.set(false, Duration.ZERO);
        listener.refuse();
    }

    /** Closes all existing connections, once. */
    public void cut() {
        connections.forEach(ProxiedConnection::close);
    }

    /**
     * Loses the answer to the next HTTP request that matches: the server gets the request and answers, the client's
     * connection is closed instead.
     *
     * @param requestLine matches a line such as {@code PUT /v1/kv/key?acquire=id HTTP/1.1}
     * @return done when the answer has been lost
     */
    public CompletableFuture<Void> loseNextAnswer(Predicate<String> requestLine) {
        AnswerRule rule = new AnswerRule(requestLine, true, null);
        rules.add(rule);
        return rule.arrived();
    }

    /** Keeps back the answer to the next HTTP request that matches, until it is released or the connection closed. */
    public HeldAnswer holdNextAnswer(Predicate<String> requestLine) {
        AnswerRule rule = new AnswerRule(requestLine, false, null);
        rules.add(rule);
        return new HeldAnswer(rule);
    }

    /**
     * Answers the next HTTP request that matches with an error: the server gets the request and answers, the client gets
     * the error instead, and its connection is closed.
     *
     * @param requestLine matches a line such as {@code PUT /v1/kv/key?acquire=id HTTP/1.1}
     * @param status such as 500
     * @return done when the server's answer has arrived
     */
    public CompletableFuture<Void> failNextAnswer(Predicate<String> requestLine, int status) {
        String error = "HTTP/1.1 " + status + " Error\r\nConnection: close\r\nContent-Length: 5\r\n\r\nerror";
        AnswerRule rule = new AnswerRule(requestLine, false, error);
        rules.add(rule);
        return rule.arrived();
    }

    /** Returns how many bytes of answers went on to clients since the proxy was started. */
    public long answeredBytes() {
        return rules.answeredBytes();
    }

    /** Returns the HTTP requests that were passed on, in their order. */
    public List<RecordedRequest> requests() {
        return rules.requests();
    }

    /** Forgets the recorded requests. */
    public void clearRequests() {
        rules.clearRequests();
    }

    /** Returns how many clients are connected; one that has gone is noticed a moment later. */
    public int openConnections() {
        return connections.size();
    }

    /** Returns how many clients have been connected at the same time at most. */
    public int maxOpenConnections() {
        return mostConnections.get();
    }

    /** Returns how many clients have connected since the proxy was started. */
    public int acceptedConnections() {
        return acceptedConnections.get();
    }

    /**
     * Sends a recorded request again, straight to the server on a connection of its own: a copy that the network kept.
     *
     * @return the answer: status line, headers and body
     * @throws UncheckedIOException if the server cannot be reached or does not answer within 30 seconds
     */
    public String replay(RecordedRequest request) {
        try (Socket socket = new Socket()) {
            socket.connect(target, REPLAY_MILLIS);
            socket.setSoTimeout(REPLAY_MILLIS);
            socket.getOutputStream().write(request.bytes());
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            HttpSplitter splitter = new HttpSplitter();
            byte[] buffer = new byte[8 * 1024];
            int n = socket.getInputStream().read(buffer);
            while (n >= 0) {
                answer.write(buffer, 0, n);
                n = splitter.feed(buffer, n).isEmpty() ? socket.getInputStream().read(buffer) : -1;
            }
            return answer.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stops listening and closes all connections. */
    @Override
    public void close() {
        listener.close();
        cut();
    }

    private void accept(Socket client) {
        ProxiedConnection connection = new ProxiedConnection(client, target, rules, connections::remove);
        connections.add(connection);
        acceptedConnections.incrementAndGet();
        mostConnections.accumulateAndGet(connections.size(), Math::max);
        connection.start();
    }
}
