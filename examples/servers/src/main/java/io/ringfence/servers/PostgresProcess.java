package io.ringfence.servers;

import java.io.IOException;

/** A running PostgreSQL, wherever it runs. */
interface PostgresProcess extends AutoCloseable {

    /** Returns the database that exists from the start. */
    PostgresDatabase database();

    /** Returns the process id of the postmaster. */
    long pid() throws IOException;

    @Override
    void close();
}
