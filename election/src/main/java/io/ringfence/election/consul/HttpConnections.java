package io.ringfence.election.consul;

import com.ecwid.consul.v1.ConsulRawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.config.Registry;
import org.apache.http.config.RegistryBuilder;
import org.apache.http.conn.socket.ConnectionSocketFactory;
import org.apache.http.conn.socket.PlainConnectionSocketFactory;
import org.apache.http.conn.ssl.SSLConnectionSocketFactory;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.impl.conn.DefaultManagedHttpClientConnection;
import org.apache.http.impl.conn.PoolingHttpClientConnectionManager;
import org.jspecify.annotations.Nullable;

/**
 * A few connections, to whatever agents, without anything that surprises: no retries, no redirects, no cookies, no proxy from
 * system properties, and no logging of headers, for one of them carries the ACL token.
 */
final class HttpConnections implements AutoCloseable {
    private static final String TOKEN_HEADER = "X-Consul-Token";
    private static final int BUFFER_BYTES = 8 * 1024;
    private static final int VALIDATE_AFTER_IDLE_MILLIS = 500;

    private final CloseableHttpClient http;
    private final PoolingHttpClientConnectionManager pool;

    HttpConnections(
            int most, Duration timeout, Supplier<? extends @Nullable String> aclToken, @Nullable SSLContext tls) {
        // Connecting, the TLS handshake and answering share the time of one request.
        int connectMillis = Math.max(1, Math.toIntExact(Math.min(timeout.toMillis() / 4, 1_000)));
        int answerMillis = Math.max(1, Math.toIntExact(timeout.toMillis()) - connectMillis * (tls == null ? 1 : 2));
        this.pool = new PoolingHttpClientConnectionManager(
                sockets(tls), (route, config) -> new DefaultManagedHttpClientConnection("ringfence", BUFFER_BYTES));
        pool.setMaxTotal(most);
        pool.setDefaultMaxPerRoute(most);
        pool.setValidateAfterInactivity(VALIDATE_AFTER_IDLE_MILLIS);
        this.http = HttpClients.custom()
                .setConnectionManager(pool)
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setConnectTimeout(connectMillis)
                        .setSocketTimeout(answerMillis)
                        .setConnectionRequestTimeout(connectMillis)
                        .build())
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableCookieManagement()
                .disableAuthCaching()
                .disableConnectionState()
                .disableContentCompression()
                .addInterceptorLast(
                        (org.apache.http.HttpRequest request, org.apache.http.protocol.HttpContext context) -> {
                            String token = aclToken.get();
                            if (token != null && !token.isEmpty()) {
                                request.setHeader(TOKEN_HEADER, token);
                            }
                        })
                .build();
    }

    /** Plain sockets or, with a context, TLS only. Host names are verified. */
    private static Registry<ConnectionSocketFactory> sockets(@Nullable SSLContext tls) {
        RegistryBuilder<ConnectionSocketFactory> sockets = RegistryBuilder.create();
        return tls == null
                ? sockets.register("http", PlainConnectionSocketFactory.getSocketFactory())
                        .build()
                : sockets.register("https", new SSLConnectionSocketFactory(tls)).build();
    }

    /** A client for one agent; all of them share these connections. */
    ConsulRawClient client(URI address) {
        return new ConsulRawClient(http, address.getScheme() + "://" + address.getHost(), address.getPort(), "");
    }

    /** Closes the connections that are not in use. */
    void closeIdle() {
        pool.closeIdleConnections(0, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        try {
            http.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
