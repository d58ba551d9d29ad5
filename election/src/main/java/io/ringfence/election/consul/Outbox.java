package io.ringfence.election.consul;

import java.util.concurrent.CompletableFuture;

/** What the state machine asks the world to do. Called under the machine's lock, so nothing here may block. */
interface Outbox {

    /** Sends the request in the background and brings the answer to {@link ElectionMachine#answer}. */
    void send(ConsulRequest request);

    /** Reads the key for a caller who waits for the answer; never completes exceptionally. */
    CompletableFuture<ConsulAnswer> read(String key);

    /** Runs a callback or a log line in the background. */
    void run(Runnable action);

    /** Tells that {@link ElectionMachine#tick} may be due earlier than it last said. */
    void wake();
}
