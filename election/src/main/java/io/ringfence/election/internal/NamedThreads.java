package io.ringfence.election.internal;

import java.util.concurrent.ThreadFactory;

/**
 * Daemon threads from the user's factory, named after their job. Thread-safe if the factory is.
 *
 * @param factory makes the threads
 */
public record NamedThreads(ThreadFactory factory) {

    /**
     * Makes a thread that is not started.
     *
     * @param job what it does, for its name
     * @param task what it runs
     * @return the thread
     */
    public Thread named(String job, Runnable task) {
        Thread thread = factory.newThread(task);
        thread.setName("ringfence-" + job);
        thread.setDaemon(true);
        return thread;
    }
}
