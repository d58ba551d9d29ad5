package io.ringfence.fencing;

import io.ringfence.fencing.internal.SqlName;

/**
 * Prints the DDL that the fences need. Every statement can be run again without harm, so it fits any migration tool.
 *
 * <pre>{@code
 * statement.execute(FenceSchema.postgres().fenceTable());              // once, for ResourceFence
 * statement.execute(FenceSchema.postgres().tokenColumn("invoice"));    // for each table that RowFence writes to
 * }</pre>
 *
 * <p>Names are given as SQL writes them, {@code invoice}, {@code billing.invoice} or {@code "Invoice"}, and printed quoted.
 * Nothing is run: this class does no I/O. Immutable and thread-safe.
 */
public final class FenceSchema {
    /** The name of the table that {@link ResourceFence} works with. */
    public static final String FENCE_TABLE = "ringfence_fence";

    /** The name that {@link #tokenColumn(String)} gives to the token column. */
    public static final String TOKEN_COLUMN = "fencing_token";

    /** SQLSTATE of an attempt to lower or delete a fence row. */
    public static final String STALE_SQLSTATE = "RF001";

    private static final FenceSchema POSTGRES = new FenceSchema();

    private FenceSchema() {}

    /** {@return the DDL for PostgreSQL 14 and newer} */
    public static FenceSchema postgres() {
        return POSTGRES;
    }

    /**
     * {@return the DDL that adds the column {@value #TOKEN_COLUMN} to a table}
     *
     * @param table the table, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public String tokenColumn(String table) {
        return tokenColumn(table, TOKEN_COLUMN);
    }

    /**
     * {@return the DDL that adds a token column to a table} The column holds 0 in rows that no leader has written yet.
     *
     * @param table the table, as SQL writes it
     * @param column the column, as SQL writes it
     * @throws IllegalArgumentException if one of them is not a name
     */
    public String tokenColumn(String table, String column) {
        return "ALTER TABLE " + SqlName.parse(table, 3).quoted() + " ADD COLUMN IF NOT EXISTS "
                + SqlName.parse(column, 1).quoted() + " bigint NOT NULL DEFAULT 0;";
    }

    /**
     * {@return the DDL of the fence table, created in the first schema of the search path, with triggers that refuse with
     * SQLSTATE {@value #STALE_SQLSTATE} to lower a token and to delete a fence row}
     *
     * <p>A role that only writes in fenced transactions needs {@code SELECT} and {@code UPDATE} on it (the seal takes a
     * row lock), and {@code INSERT} to raise a fence for the first time. The triggers guard against mistakes, not against
     * the owner of the table, who can drop them.
     */
    public String fenceTable() {
        return """
                CREATE TABLE IF NOT EXISTS ringfence_fence (
                    resource  text PRIMARY KEY,
                    election  text NOT NULL,
                    token     bigint NOT NULL CHECK (token >= 1),
                    holder    text NOT NULL,
                    raised_at timestamptz NOT NULL DEFAULT now()
                ) WITH (fillfactor = 50);

                CREATE OR REPLACE FUNCTION ringfence_fence_guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
                BEGIN
                    IF TG_OP = 'UPDATE' THEN
                        IF NEW.resource = OLD.resource AND NEW.token >= OLD.token THEN
                            RETURN NEW;
                        END IF;
                        RAISE EXCEPTION 'Fence of resource "%" stays at token % or higher', OLD.resource, OLD.token
                            USING ERRCODE = 'RF001', HINT = 'A fence that goes back lets former leaders write again.';
                    END IF;
                    RAISE EXCEPTION 'Fence rows are not removed'
                        USING ERRCODE = 'RF001', HINT = 'Without its row a fence lets former leaders raise it again.';
                END
                $guard$;

                CREATE OR REPLACE TRIGGER ringfence_fence_guard
                    BEFORE UPDATE OR DELETE ON ringfence_fence
                    FOR EACH ROW EXECUTE FUNCTION ringfence_fence_guard();

                CREATE OR REPLACE TRIGGER ringfence_fence_guard_truncate
                    BEFORE TRUNCATE ON ringfence_fence
                    FOR EACH STATEMENT EXECUTE FUNCTION ringfence_fence_guard();
                """;
    }
}
