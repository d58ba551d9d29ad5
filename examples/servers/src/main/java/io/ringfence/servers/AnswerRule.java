package io.ringfence.servers;

import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link TcpProxy} does to the answer of one request.
 *
 * @param requestLine which request
 * @param lose whether the answer is lost
 * @param instead what the client gets instead of the answer; if it is null and the answer not lost, the answer is held until
 *     {@code released}
 * @param arrived done when the answer has arrived, and been lost if it is to be
 * @param released done when a held answer may go on
 */
record AnswerRule(
        Predicate<String> requestLine,
        boolean lose,
        @Nullable String instead,
        CompletableFuture<Void> arrived,
        CompletableFuture<Void> released) {

    AnswerRule(Predicate<String> requestLine, boolean lose, @Nullable String instead) {
        this(requestLine, lose, instead, new CompletableFuture<>(), new CompletableFuture<>());
    }
}
