package io.ringfence.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Consul's HTTP API as a test's own hand uses it, past the code under test. Thread-safe. */
final class ConsulHttp {

    private static final Duration CONNECT = Duration.ofSeconds(2);
    private static final Duration ANSWER = Duration.ofSeconds(30);
    private static final Duration PROBE = Duration.ofSeconds(2);
    private static final Pattern SESSION = Pattern.compile("\"ID\": *\"([^\"]+)\"");

    private final String url;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();

    ConsulHttp(String url) {
        this.url = url;
    }

    String url() {
        return url;
    }

    String get(String path) {
        return require(request(path).GET());
    }

    String put(String path, String body) {
        return require(request(path).PUT(BodyPublishers.ofString(body)));
    }

    String delete(String path) {
        return require(request(path).DELETE());
    }

    /** Sends a GET request that need not be answered; returns the body of an answer with status 200 that came soon. */
    Optional<String> probe(String path) {
        try {
            HttpResponse<String> response = send(request(path).GET().timeout(PROBE));
            return response.statusCode() == 200 ? Optional.of(response.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether there is a leader and a session can be created; a refusal by an ACL counts as an answer too. */
    boolean isUsable() {
        try {
            if (probe("/v1/status/leader").orElse("").strip().length() <= 2) {
                return false;
            }
            HttpResponse<String> session = send(
                    request("/v1/session/create").PUT(BodyPublishers.noBody()).timeout(PROBE));
            Matcher id = SESSION.matcher(session.body());
            if (session.statusCode() == 200 && id.find()) {
                send(request("/v1/session/destroy/" + id.group(1))
                        .PUT(BodyPublishers.noBody())
                        .timeout(PROBE));
                return true;
            }
            return session.statusCode() == 403;
        } catch (IOException e) {
            return false;
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(ANSWER);
    }

    private String require(HttpRequest.Builder builder) {
        try {
            HttpResponse<String> response = send(builder);
            if (response.statusCode() / 100 != 2) {
                HttpRequest request = response.request();
                throw new IllegalStateException(request.method() + " " + request.uri() + " was answered "
                        + response.statusCode() + ": " + response.body().strip());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException {
        try {
            return client.send(request.build(), BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while talking to " + url, e);
        }
    }
}
