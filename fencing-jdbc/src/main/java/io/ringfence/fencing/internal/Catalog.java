package io.ringfence.fencing.internal;

import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FenceSchemaException;
import java.sql.Connection;
import java.sql.SQLException;

/** What a database knows of the target of a fenced statement. */
interface Catalog {

    /**
     * Checks that the target is a table of its own with a usable token column.
     *
     * @param connection where to ask
     * @param table the target
     * @param column the token column
     * @return whether the database has guards, which must be told the token of each write
     * @throws io.ringfence.fencing.NotFenceableException if it is a view or something else that cannot be trusted
     * @throws FenceSchemaException if the token column is missing or wrong
     * @throws SQLException if the database does not tell, for example because there is no such table
     */
    boolean require(Connection connection, SqlName table, SqlName column) throws SQLException;

    /** Returns the catalog of a database. */
    static Catalog of(Dialect dialect) {
        return switch (dialect) {
            case POSTGRES -> new PostgresCatalog();
            case H2 -> new H2Catalog();
            case MARIADB -> new MariaDbCatalog();
        };
    }

    /** Words what is wrong with the token column, with the DDL that mends it. */
    static FenceSchemaException missing(FenceSchema schema, SqlName table, SqlName column) {
        return new FenceSchemaException(
                "Table " + table + " has no token column " + column,
                schema.tokenColumn(table.quoted(), column.quoted()));
    }

    static FenceSchemaException wrongType(SqlName table, SqlName column, String type, String ddl) {
        return new FenceSchemaException(
                "The token column " + column + " of table " + table + " is of type " + type + " and must be bigint",
                ddl);
    }

    static FenceSchemaException nullable(SqlName table, SqlName column, String ddl) {
        String update = "UPDATE " + table.quoted() + " SET " + column.quoted() + " = 0 WHERE " + column.quoted()
                + " IS NULL;\n";
        return new FenceSchemaException(
                "The token column " + column + " of table " + table
                        + " may be NULL, and a row with NULL would refuse every leader for ever",
                update + ddl);
    }
}
