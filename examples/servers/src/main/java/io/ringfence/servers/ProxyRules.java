package io.ringfence.servers;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What the connections of a {@link TcpProxy} share: how they treat bytes, and what they have seen. Thread-safe. */
final class ProxyRules {

    private final List<RecordedRequest> requests = new CopyOnWriteArrayList<>();
    private final Queue<AnswerRule> answers = new ConcurrentLinkedQueue<>();
    private final LongAdder answeredBytes = new LongAdder();
    private volatile boolean blackHole;
    private volatile Duration delay = Duration.ZERO;
    private volatile CompletableFuture<Void> flowing = CompletableFuture.completedFuture(null);

    void set(boolean newBlackHole, Duration newDelay) {
        blackHole = newBlackHole;
        delay = newDelay;
        flowing.complete(null);
    }

    void holdRequests() {
        set(false, Duration.ZERO);
        flowing = new CompletableFuture<>();
    }

    /** Returns what is done when requests may go on. */
    CompletableFuture<Void> flowing() {
        return flowing;
    }

    boolean blackHole() {
        return blackHole;
    }

    Duration delay() {
        return delay;
    }

    List<RecordedRequest> requests() {
        return List.copyOf(requests);
    }

    void clearRequests() {
        requests.clear();
    }

    void countAnswered(int bytes) {
        answeredBytes.add(bytes);
    }

    long answeredBytes() {
        return answeredBytes.sum();
    }

    void add(AnswerRule rule) {
        answers.add(rule);
    }

    /** Records a request and returns the rule for its answer, which no other request gets. */
    @Nullable
    AnswerRule record(RecordedRequest request) {
        requests.add(request);
        for (AnswerRule rule : List.copyOf(answers)) {
            // the removal decides between two requests that match the same rule
            if (rule.requestLine().test(request.requestLine()) && answers.remove(rule)) {
                return rule;
            }
        }
        return null;
    }
}
