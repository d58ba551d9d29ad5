package io.ringfence.election.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ringfence.election.Lease;
import io.ringfence.servers.ConsulCluster;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/** A cluster for each class, which is made whole after each test. */
@Tag("cluster")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class OnACluster {
    /** A lock of the classes that expect servers to answer in time: no two of them run at once. */
    static final String IN_TIME = "servers that answer in time";

    /** Time enough for another Raft leader, and for a renewal by it, before the deadline. */
    static final Duration LONG_TTL = Duration.ofSeconds(20);

    static final Duration SOON = Duration.ofSeconds(10);
    static final Duration PATIENCE = Duration.ofSeconds(60);

    final ConsulCluster cluster = ConsulCluster.start();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @AfterEach
    void heal() throws Exception {
        cluster.heal();
        while (!open.isEmpty()) {
            open.pop().close(); // the last one first: elections before the proxy that they use
        }
    }

    @AfterAll
    void close() {
        cluster.close();
    }

    <T extends AutoCloseable> T opened(T closeable) {
        open.push(closeable);
        return closeable;
    }

    /** What can be looked up at one server. */
    Consul consul(int server) {
        return new Consul(cluster.server(server));
    }

    /** Elections that use these servers in this order, with a lock delay of zero. */
    ConsulElections.Builder at(int... servers) {
        String[] urls = Arrays.stream(servers).mapToObj(cluster::url).toArray(String[]::new);
        return at(urls[0], Arrays.copyOfRange(urls, 1, urls.length));
    }

    ConsulElections.Builder at(String url, String... more) {
        return ConsulElections.builder(url, more).lockDelay(Duration.ZERO);
    }

    /** The server after this one. */
    static int after(int server) {
        return (server + 1) % 3;
    }

    static int before(int server) {
        return (server + 2) % 3;
    }

    static <T> CompletableFuture<T> async(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** Waits for the next renewal that is answered. */
    static void awaitRenewal(Lease lease) {
        AtomicReference<Duration> last = new AtomicReference<>(lease.remaining());
        await().atMost(LONG_TTL).pollInterval(Duration.ofMillis(20)).until(() -> {
            Duration remaining = lease.remaining();
            return remaining.compareTo(last.getAndSet(remaining)) > 0 || !lease.isHeld();
        });
        assertThat(lease.isHeld()).isTrue();
    }
}
