package io.ringfence.fencing.internal;

import io.ringfence.fencing.FencingException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/** The databases that row fences work on, and how their SQL differs where a fence cares. */
public enum Dialect {
    /** PostgreSQL 14 and newer. */
    POSTGRES("PostgreSQL", '"', "+-*/<>=~!@#%^&|`"),
    /** H2 2.x in its regular mode. */
    H2("H2", '"', "+-*/<>=~!%&|^"),
    /** MariaDB 10.11 and newer, on tables of InnoDB. */
    MARIADB("MariaDB", '`', "+-*/<>=~!%&|^");

    private final String product;
    private final char quote;
    private final String operators;

    Dialect(String product, char quote, String operators) {
        this.product = product;
        this.quote = quote;
        this.operators = operators;
    }

    /**
     * Recognises the database behind a connection by the name that its driver gives.
     *
     * @param connection a connection
     * @return its dialect
     * @throws FencingException if it is none of these
     * @throws SQLException if the driver does not tell
     */
    public static Dialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        for (Dialect dialect : values()) {
            if (dialect.product.equals(product)) {
                return dialect;
            }
        }
        throw new FencingException(
                "Row fences work on PostgreSQL, MariaDB (with its own driver) and H2; this connection leads to "
                        + product
                        + ". Nothing was run: use one of these, or check fencing_token <= ? and the count by hand",
                null);
    }

    char quote() {
        return quote;
    }

    boolean isOperator(char c) {
        return operators.indexOf(c) >= 0;
    }

    /** Tells whether writes may name further tables: WITH, FROM, USING and ON CONFLICT as PostgreSQL has them. */
    boolean hasJoinedWrites() {
        return this == POSTGRES;
    }

    /** Folds an unquoted name as the server does, so that it equals its quoted form. */
    String fold(String name) {
        return switch (this) {
            case POSTGRES -> SqlChars.foldCase(name);
            case H2 -> name.toUpperCase(Locale.ROOT);
            case MARIADB -> name;
        };
    }

    /** Tells whether two folded names can be the same column. */
    boolean isSameColumn(String one, String other) {
        return this == POSTGRES ? one.equals(other) : one.equalsIgnoreCase(other);
    }

    /**
     * Returns what a read that explains a refusal ends with. Plain where a statement reads what is committed; a locking
     * read can deadlock with the new leader. MariaDB's plain read would see the snapshot of the transaction instead.
     */
    String endOfRead() {
        return this == MARIADB ? "\nLOCK IN SHARE MODE WAIT 2" : "";
    }

    /** {@return the name of the product} */
    @Override
    public String toString() {
        return product;
    }
}
