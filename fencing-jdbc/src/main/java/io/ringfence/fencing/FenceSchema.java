package io.ringfence.fencing;

import io.ringfence.fencing.internal.Dialect;
import io.ringfence.fencing.internal.SqlName;
import org.jspecify.annotations.Nullable;

/**
 * Prints the DDL that the fences need. Every statement can be run again without harm, so it fits any migration tool.
 *
 * <pre>{@code
 * statement.execute(FenceSchema.postgres().fenceTable());              // once, for ResourceFence
 * statement.execute(FenceSchema.postgres().inSchema("app").fenceFunctions());   // faster, and needs no right on the table
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

    /** SQLSTATE of an attempt to lower or delete a fence row, and of a write that a guard refuses as stale. */
    public static final String STALE_SQLSTATE = "RF001";

    /** SQLSTATE of a write that a guard refuses because it does not come with the token of its transaction. */
    public static final String UNFENCED_SQLSTATE = "RF002";

    private static final FenceSchema POSTGRES = new FenceSchema(Dialect.POSTGRES, null);
    private static final FenceSchema H2 = new FenceSchema(Dialect.H2, null);
    private static final FenceSchema MARIADB = new FenceSchema(Dialect.MARIADB, null);

    private final Dialect dialect;

    /** Quoted; null for the first one of the search path. */
    private final @Nullable String schema;

    private FenceSchema(Dialect dialect, @Nullable String schema) {
        this.dialect = dialect;
        this.schema = schema;
    }

    /** {@return the DDL for PostgreSQL 14 and newer} */
    public static FenceSchema postgres() {
        return POSTGRES;
    }

    /** {@return the DDL for H2 2.x; row fences only} */
    public static FenceSchema h2() {
        return H2;
    }

    /** {@return the DDL for MariaDB 10.11 and newer; row fences only} */
    public static FenceSchema mariaDb() {
        return MARIADB;
    }

    /**
     * {@return the DDL with the fence table and its functions in a certain schema, which exists already} The tables that
     * token columns are added to are named by themselves.
     *
     * @param name the schema, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     */
    public FenceSchema inSchema(String name) {
        return new FenceSchema(dialect, SqlName.parse(dialect, name, 1).quoted());
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
        return "ALTER TABLE " + SqlName.parse(dialect, table, 3).quoted() + " ADD COLUMN IF NOT EXISTS "
                + SqlName.parse(dialect, column, 1).quoted() + " bigint NOT NULL DEFAULT 0;";
    }

    /**
     * {@return the DDL of the fence table, created in the first schema of the search path unless {@link #inSchema} names
     * one, with triggers that refuse with SQLSTATE {@value #STALE_SQLSTATE} to lower a token and to delete a fence row}
     *
     * <p>Without {@link #fenceFunctions()} a role that only writes in fenced transactions needs {@code SELECT} and
     * {@code UPDATE} on it (the seal takes a row lock), and {@code INSERT} to raise a fence for the first time. The
     * triggers guard against mistakes, not against the owner of the table, who can drop them.
     *
     * @throws UnsupportedOperationException on another database than PostgreSQL, which is where {@link ResourceFence} works
     */
    public String fenceTable() {
        requireResourceFences();
        return """
                CREATE TABLE IF NOT EXISTS {schema}ringfence_fence (
                    resource  text PRIMARY KEY,
                    election  text NOT NULL,
                    token     bigint NOT NULL CHECK (token >= 1),
                    holder    text NOT NULL,
                    raised_at timestamptz NOT NULL DEFAULT now()
                ) WITH (fillfactor = 50);

                CREATE OR REPLACE FUNCTION {schema}ringfence_fence_guard() RETURNS trigger LANGUAGE plpgsql AS $guard$
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
                    BEFORE UPDATE OR DELETE ON {schema}ringfence_fence
                    FOR EACH ROW EXECUTE FUNCTION {schema}ringfence_fence_guard();

                CREATE OR REPLACE TRIGGER ringfence_fence_guard_truncate
                    BEFORE TRUNCATE ON {schema}ringfence_fence
                    FOR EACH STATEMENT EXECUTE FUNCTION {schema}ringfence_fence_guard();
                """.replace("{schema}", prefix());
    }

    /**
     * {@return the DDL of the functions that seal transactions and raise fences, for use after {@link #fenceTable()} and
     * {@link #inSchema}}
     *
     * <p>{@link ResourceFence} uses them where it finds them and may execute them. They run with the rights of the role
     * that runs this script, which should not be the application's: then the application's role needs no right on the
     * fence table, and can neither lower a token nor remove a fence. Nobody else may execute them until
     * {@link #grantSeal} and {@link #grantRaise} allow it. Whoever may raise can also raise too high, and so keep out
     * the present leader; nobody can let in a former one.
     *
     * @throws IllegalStateException if no schema was named: the functions must not depend on a search path
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String fenceFunctions() {
        return FenceFunctions.create(requireSchema());
    }

    /**
     * {@return the DDL that allows a role to run fenced transactions} What the transactions work on is granted as ever.
     *
     * @param role the role, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     * @throws IllegalStateException if no schema was named
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String grantSeal(String role) {
        return FenceFunctions.grantSeal(requireSchema(), role(role));
    }

    /**
     * {@return the DDL that allows a role to raise fences}
     *
     * @param role the role, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     * @throws IllegalStateException if no schema was named
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String grantRaise(String role) {
        return FenceFunctions.grantRaise(requireSchema(), role(role));
    }

    /**
     * {@return the DDL that removes the fence table and the functions} Token columns and guards stay: drop commit guards
     * before, or all that they guard refuses to commit. Afterwards former leaders are kept out by nothing: stop all that
     * write first.
     *
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String dropFence() {
        requireResourceFences();
        return "DROP TABLE IF EXISTS " + prefix() + "ringfence_fence;\n" + FenceFunctions.drop(prefix())
                + "DROP FUNCTION IF EXISTS " + prefix() + "ringfence_fence_guard();\n";
    }

    /**
     * {@return the DDL of a {@linkplain #rowGuard(String, String) row guard} for the column {@value #TOKEN_COLUMN}}
     *
     * @param table the table, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String rowGuard(String table) {
        return rowGuard(table, TOKEN_COLUMN);
    }

    /**
     * {@return the DDL of a trigger that makes PostgreSQL refuse writes without a token and with a stale one, also those
     * that go around the fences}
     *
     * <p>The transaction tells its token by the setting {@code ringfence.token}; {@link RowFence} and
     * {@link ResourceFence} do that where they find a guard. For each row that is inserted, updated or deleted:
     *
     * <ul>
     *   <li>with the setting, a row that carries a higher token refuses with SQLSTATE {@value #STALE_SQLSTATE}. Another one
     *       is stamped with the token, so frameworks need not know the column; a statement that writes another token into
     *       it is refused;
     *   <li>without it, an INSERT that brings a token and an UPDATE that raises the row's are taken at their word. An UPDATE
     *       that lowers it is stale. Everything else is refused with SQLSTATE {@value #UNFENCED_SQLSTATE}: an UPDATE that
     *       leaves the column as it is cannot be told from one that forgets it.
     * </ul>
     *
     * <p>By hand, write {@code SET LOCAL ringfence.token = '..'} first, in the same transaction; the refusal says which
     * token the row carries.
     *
     * <p><b>Not guaranteed.</b> It guards against mistakes and forgotten code, not against a role that wants around it: any
     * role may set any token, and the owner of the table may drop or disable the trigger. It does not fire under
     * {@code session_replication_role = replica}, and so not for what a logical replication applies; not for TRUNCATE (see
     * {@link #truncateGuard}), DROP, DETACH; nor in tables that <em>inherit</em> from this one: guard each of them.
     * Partitions are covered, those that are attached later as well; an UPDATE that moves a row to another partition is a
     * DELETE and an INSERT, and needs the setting. {@code COPY} and a restore of data into a guarded table bring the tokens
     * of their rows, and rows with 0 are refused: restore the data first, as {@code pg_restore} does.
     *
     * <p>It costs about five microseconds for each row. Processes that run already learn of their first guard by a refusal:
     * {@link RowFence} gets one for each table and goes on, {@link ResourceFence} loses one transaction. So create guards
     * while no one writes.
     *
     * @param table the table, as SQL writes it; it has the token column already
     * @param column the token column, as SQL writes it
     * @throws IllegalArgumentException if one of them is not a name
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String rowGuard(String table, String column) {
        return FenceGuards.rows(guarded(table), SqlName.parse(dialect, column, 1));
    }

    /**
     * {@return the DDL of a trigger that compares, at COMMIT, the token of every transaction that has written to a table
     * with the fence of a resource} For use after {@link #fenceTable()} and {@link #inSchema}; one table has one resource.
     *
     * <p>It is the seal of {@link ResourceFence} for code that does not use it: with an older token than the fence's, or
     * with none, COMMIT is refused, with SQLSTATE {@value #STALE_SQLSTATE} or {@value #UNFENCED_SQLSTATE}; with a newer
     * one, the fence was not raised. Between this and the end of COMMIT the fence cannot be raised. {@code SET CONSTRAINTS}
     * makes it come earlier; then the lock is held until the end of the transaction, and a raise waits that long.
     *
     * <p>The token comes by the setting {@code ringfence.token} alone, whatever token columns say; what {@link #rowGuard}
     * says of it, of inheritance and of what is not guaranteed holds here too. The trigger reads the fence with the rights
     * of the role that runs this script; roles that write need none. A transaction remembers each row that it
     * writes until COMMIT, which takes about five microseconds more for each; it looks at the fence once.
     *
     * @param table the table, as SQL writes it; it needs no token column
     * @param resource the resource whose fence is asked
     * @throws IllegalArgumentException if one of them is not a name
     * @throws IllegalStateException if no schema was named
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String commitGuard(String table, String resource) {
        SqlName guarded = guarded(table);
        if (resource.isBlank()) {
            throw new IllegalArgumentException("A resource needs a name");
        }
        return FenceGuards.commit(guarded, resource, requireSchema());
    }

    /**
     * {@return the DDL of a trigger that refuses TRUNCATE of a table with SQLSTATE {@value #UNFENCED_SQLSTATE}} TRUNCATE
     * asks no row for its token: use DELETE in a fenced transaction. Partitions need a guard each, unless they are only
     * truncated through their parent.
     *
     * @param table the table, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String truncateGuard(String table) {
        return FenceGuards.truncate(guarded(table));
    }

    /**
     * {@return the DDL that removes all guards of a table} Their functions go with the last table that uses them. Does
     * nothing where there are none, or no such table.
     *
     * @param table the table, as SQL writes it
     * @throws IllegalArgumentException if that is not a name
     * @throws UnsupportedOperationException on another database than PostgreSQL
     */
    public String dropGuards(String table) {
        return FenceGuards.drop(guarded(table));
    }

    private SqlName guarded(String table) {
        if (dialect != Dialect.POSTGRES) {
            throw new UnsupportedOperationException("Guards are triggers of PostgreSQL. On " + dialect
                    + " nothing refuses writes that go around RowFence");
        }
        return SqlName.parse(dialect, table, 3);
    }

    private String role(String name) {
        return SqlName.parse(dialect, name, 1).quoted();
    }

    private String prefix() {
        return schema == null ? "" : schema + ".";
    }

    private String requireSchema() {
        requireResourceFences();
        if (schema == null) {
            throw new IllegalStateException("The functions of the fence name their table with its schema, so that no"
                    + " other table can take its place: FenceSchema.postgres().inSchema(\"..\") says which");
        }
        return schema;
    }

    private void requireResourceFences() {
        if (dialect != Dialect.POSTGRES) {
            throw new UnsupportedOperationException("Resource fences work on PostgreSQL only. On " + dialect
                    + " use RowFence, which needs nothing but tokenColumn(..)");
        }
    }
}
