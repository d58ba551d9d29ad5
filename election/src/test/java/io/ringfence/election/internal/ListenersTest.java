package io.ringfence.election.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Lease;
import io.ringfence.election.LossReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@NullMarked
@ResourceLock(Resources.SYSTEM_ERR)
class ListenersTest {
    private final Queue<Runnable> threads = new ArrayDeque<>();
    private final List<String> heard = new ArrayList<>();
    private final Lease lease = new FakeLease(7, new ConcurrentLinkedQueue<>());

    @Test
    void callsNobodyOnTheThreadThatTells() {
        Listeners listeners = new Listeners(List.of(new Recorder("a")), threads::add);
        listeners.acquired(lease);
        assertThat(heard).isEmpty();
        runAll();
        assertThat(heard).containsExactly("a acquired");
    }

    @Test
    void keepsTheOrderForEachListener_onOneThreadAtATime() {
        Listeners listeners = new Listeners(List.of(new Recorder("a"), new Recorder("b")), threads::add);
        listeners.acquired(lease);
        listeners.lost(lease, LossReason.RELEASED);
        assertThat(threads).hasSize(2);
        threads.remove();
        runAll();
        assertThat(heard).containsExactly("b acquired", "b lost RELEASED");
    }

    @Test
    void goesOn_whenAListenerThrows() {
        Listeners listeners = new Listeners(
                List.of(
                        new ElectionListener() {
                            @Override
                            public void onAcquired(Lease acquired) {
                                heard.add("thrower");
                                throw new AssertionError("thrown by a listener");
                            }

                            @Override
                            public void onLost(Lease lost, LossReason reason) {
                                heard.add("thrower lost");
                            }
                        },
                        new Recorder("b")),
                threads::add);
        LogCapture log = LogCapture.start();
        listeners.acquired(lease);
        listeners.lost(lease, LossReason.SHUTDOWN);
        runAll();
        assertThat(log.stop()).contains("ERROR", "thrown by a listener");
        assertThat(heard).containsExactly("thrower", "thrower lost", "b acquired", "b lost SHUTDOWN");
    }

    @Test
    void takesEventsThatAListenerCauses() {
        List<Listeners> self = new ArrayList<>();
        self.add(new Listeners(
                List.of(new ElectionListener() {
                    @Override
                    public void onAcquired(Lease acquired) {
                        self.get(0).lost(acquired, LossReason.RELEASED);
                        heard.add("acquired");
                    }

                    @Override
                    public void onLost(Lease lost, LossReason reason) {
                        heard.add("lost");
                    }
                }),
                threads::add));
        self.get(0).acquired(lease);
        runAll();
        assertThat(heard).containsExactly("acquired", "lost");
    }

    private void runAll() {
        while (!threads.isEmpty()) {
            threads.remove().run();
        }
    }

    private final class Recorder implements ElectionListener {
        private final String name;

        Recorder(String name) {
            this.name = name;
        }

        @Override
        public void onAcquired(Lease acquired) {
            heard.add(name + " acquired");
        }

        @Override
        public void onLost(Lease lost, LossReason reason) {
            heard.add(name + " lost " + reason);
        }
    }
}
