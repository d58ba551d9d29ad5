package io.ringfence.servers;

/** A running MariaDB, wherever it runs. */
interface MariaDbProcess extends AutoCloseable {

    /** Returns the database that exists from the start. */
    MariaDbDatabase database();

    /** Returns the process id of the server. */
    long pid();

    @Override
    void close();
}
