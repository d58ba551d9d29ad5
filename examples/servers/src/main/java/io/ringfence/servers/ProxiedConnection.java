package io.ringfence.servers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a {@link TcpProxy}: a thread for what the client sends, and one for what the server answers. Once
 * it has lost a byte in a black hole it stays black, because what follows would make no sense to either side.
 */
final class ProxiedConnection {

    private static final int CONNECT_MILLIS = 5_000;
    private static final int BUFFER = 16 * 1024;

    private final Socket client;
    private final Socket upstream = new Socket();
    private final InetSocketAddress target;
    private final ProxyRules rules;
    private final Consumer<ProxiedConnection> whenClosed;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final AtomicReference<@Nullable AnswerRule> rule = new AtomicReference<>();
    private volatile boolean black;
    private volatile boolean answerDue;

    ProxiedConnection(
            Socket client, InetSocketAddress target, ProxyRules rules, Consumer<ProxiedConnection> whenClosed) {
        this.client = client;
        this.target = target;
        this.rules = rules;
        this.whenClosed = whenClosed;
    }

    void start() {
        spawn("requests", this::passRequests);
    }

    void close() {
        if (closed.complete(null)) {
            whenClosed.accept(this);
            closeQuietly(client);
            closeQuietly(upstream);
        }
    }

    private void passRequests() {
        try (this.client) {
            connect();
            HttpSplitter splitter = new HttpSplitter();
            byte[] buffer = new byte[BUFFER];
            for (int n = client.getInputStream().read(buffer);
                    n >= 0;
                    n = client.getInputStream().read(buffer)) {
                CompletableFuture.anyOf(rules.flowing(), closed).join();
                if (!swallows()) {
                    for (RecordedRequest request : splitter.feed(buffer, n)) {
                        rule.set(rules.record(request));
                    }
                    answerDue = true;
                    upstream.getOutputStream().write(buffer, 0, n);
                }
            }
        } catch (IOException e) {
            // one of the two sides is gone, and the other is told by closing it
        } finally {
            close();
        }
    }

    private void connect() throws IOException {
        if (swallows()) {
            return;
        }
        client.setTcpNoDelay(true);
        upstream.setTcpNoDelay(true);
        upstream.connect(target, CONNECT_MILLIS);
        spawn("answers", this::passAnswers);
    }

    private void passAnswers() {
        try {
            byte[] buffer = new byte[BUFFER];
            for (int n = upstream.getInputStream().read(buffer);
                    n >= 0;
                    n = upstream.getInputStream().read(buffer)) {
                if (!swallows() && mayPass()) {
                    rules.countAnswered(n);
                    client.getOutputStream().write(buffer, 0, n);
                }
            }
        } catch (IOException e) {
            // as in passRequests
        }
        if (!swallows()) {
            close();
        }
    }

    /** Applies rule and delay to the first bytes of an answer, and returns whether they may go on to the client. */
    private boolean mayPass() throws IOException {
        if (answerDue) {
            answerDue = false;
            AnswerRule applied = rule.getAndSet(null);
            String instead = applied == null ? null : applied.instead();
            if (instead != null) {
                client.getOutputStream().write(instead.getBytes(StandardCharsets.US_ASCII));
            }
            if (applied != null && (applied.lose() || instead != null)) {
                close();
                applied.arrived().complete(null);
                return false;
            }
            if (applied != null) {
                applied.arrived().complete(null);
                CompletableFuture.anyOf(applied.released(), closed).join();
            }
            pause(rules.delay().toNanos());
        }
        // what was waiting here when the black hole opened does not come out of it
        return !swallows();
    }

    private boolean swallows() {
        black |= rules.blackHole();
        return black;
    }

    /** Waits for the time, or until the connection is closed. */
    private void pause(long nanos) {
        try {
            if (nanos > 0) {
                closed.get(nanos, TimeUnit.NANOSECONDS);
            }
        } catch (TimeoutException | ExecutionException e) {
            // the time is over
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void spawn(String job, Runnable task) {
        Thread thread = new Thread(task, "proxy-" + job + "-" + client.getPort());
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is closed as far as we can close it
        }
    }
}
