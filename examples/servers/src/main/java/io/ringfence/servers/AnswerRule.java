package io.ringfence.servers;

import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * What a {@link TcpProxy} does to the answer of one request.
 *
 * @param requestLine which request
 * @param lose whether the answer is lost, else it is held until {@code released}
 * @param arrived done when the answer has arrived, and been lost if it is to be
 * @param released done when a held answer may go on
 */
record AnswerRule(
        Predicate<String> requestLine,
        boolean lose,
        CompletableFuture<Void> arrived,
        CompletableFuture<Void> released) {

    AnswerRule(Predicate<String> requestLine, boolean lose) {
        this(requestLine, lose, new CompletableFuture<>(), new CompletableFuture<>());
    }
}
