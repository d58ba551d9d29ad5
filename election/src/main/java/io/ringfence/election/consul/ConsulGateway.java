package io.ringfence.election.consul;

/** The one way to Consul. */
interface ConsulGateway extends AutoCloseable {

    /** Sends the request and waits for the answer, for a bounded time. Never throws. Thread-safe. */
    ConsulAnswer send(ConsulRequest request);

    /** Ends requests under way; their answer is {@link ConsulAnswer.Failed}. */
    @Override
    void close();
}
