package io.ringfence.fencing.internal;

import io.ringfence.fencing.FencingException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Refuses databases that are not PostgreSQL, also those that only speak its protocol. */
public final class Postgres {
    /** Also keeps out Redshift, Greenplum, Materialize and QuestDB, which claim to be older ones. */
    private static final int OLDEST = 14;

    private static final Pattern VERSION = Pattern.compile("PostgreSQL (\\d{1,4})");

    private Postgres() {}

    /**
     * Looks at the product that the driver names.
     *
     * @param connection a connection
     * @throws FencingException if it is another one
     * @throws SQLException if the driver does not tell
     */
    public static void require(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw unsupported(product);
        }
    }

    /**
     * Looks at what the server's {@code version()} returned.
     *
     * @param version the text
     * @throws FencingException if it is not PostgreSQL's
     */
    public static void requireVersion(String version) {
        Matcher server = VERSION.matcher(version);
        if (!server.lookingAt() || Integer.parseInt(server.group(1)) < OLDEST || version.contains("-YB-")) {
            throw unsupported(version);
        }
    }

    private static FencingException unsupported(String product) {
        return new FencingException(
                "Fences work on PostgreSQL only; this connection leads to " + product
                        + ". Nothing was run: use a DataSource of a PostgreSQL server",
                null);
    }
}
