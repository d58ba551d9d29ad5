package io.ringfence.election.consul;

import com.ecwid.consul.v1.ConsulRawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.impl.conn.DefaultManagedHttpClientConnection;
import org.apache.http.impl.conn.PoolingHttpClientConnectionManager;
import org.jspecify.annotations.Nullable;

/**
 * A few connections to one agent, without anything that surprises: no retries, no redirects, no cookies, no proxy from
 * system properties, and no logging of headers, for one of them carries the ACL token.
 */
final class HttpConnections implements AutoCloseable {
    private static final String TOKEN_HEADER = "X-Consul-Token";
    private static final int BUFFER_BYTES = 8 * 1024;
    private static final int VALIDATE_AFTER_IDLE_MILLIS = 500;

    private final CloseableHttpClient http;
    private final ConsulRawClient client;

    HttpConnections(URI address, int most, Duration timeout, Supplier<? extends @Nullable String> aclToken) {
        // Connecting and answering share the time of one request.
        int connectMillis = Math.max(1, Math.toIntExact(Math.min(timeout.toMillis() / 4, 1_000)));
        int answerMillis = Math.max(1, Math.toIntExact(timeout.toMillis()) - connectMillis);
        PoolingHttpClientConnectionManager pool = new PoolingHttpClientConnectionManager(
                (route, config) -> new DefaultManagedHttpClientConnection("ringfence", BUFFER_BYTES));
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
        this.client = new ConsulRawClient(http, address.getHost(), address.getPort(), "");
    }

    ConsulRawClient client() {
        return client;
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
