package io.ringfence.servers;

import java.io.IOException;

/** A running PostgreSQL, wherever it runs. */
interface PostgresProcess extends AutoCloseable {

    /** Returns the database that exists from the start. */
    PostgresDatabase database();

    /** Returns the process id of the postmaster. */
    long pid() throws IOException;

    /** Kills all processes of the server with SIGKILL and waits for their death; its data stays. */
    void kill();

    /** Starts the killed server again, on its port and its data, and waits until it takes connections. */
    void restart();

    @Override
    void close();
}
