package io.ringfence.fencing;

import static io.ringfence.fencing.internal.GuardNames.COMMIT;
import static io.ringfence.fencing.internal.GuardNames.ROWS;
import static io.ringfence.fencing.internal.GuardNames.SETTING;
import static io.ringfence.fencing.internal.GuardNames.TRUNCATE;

import io.ringfence.fencing.internal.SqlName;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The triggers by which PostgreSQL itself refuses writes without a token and with a stale one, whoever sends them.
 *
 * <p>A trigger sees rows and not statements: an UPDATE that leaves the token column alone looks like one of the leader that
 * wrote the row. So the token of the transaction comes by a setting. Without it only a token that is new to the row is
 * taken for ours.
 *
 * <p>The functions stand beside the table and beside the fence, are bound by the triggers whatever the search path is, and
 * have a fixed one themselves. The one of COMMIT runs with the rights of its owner: writers need none on the fence.
 */
final class FenceGuards {
    private static final String ROWS_FUNCTION = "ringfence_guard_rows_v1_";
    private static final String TRUNCATE_FUNCTION = "ringfence_guard_truncate_v1";
    private static final String COMMIT_FUNCTION = "ringfence_guard_commit_v1";
    private static final int LONGEST_NAME = 63;

    private static final String ROWS_BODY = """
            DECLARE
                given   bigint := nullif(current_setting('{setting}', true), '');
                held    bigint := 0;
                written bigint := 0;
            BEGIN
                IF TG_OP <> 'INSERT' THEN
                    held := coalesce(OLD.{column}, 0);
                END IF;
                IF TG_OP <> 'DELETE' THEN
                    written := coalesce(NEW.{column}, 0);
                END IF;
                IF given IS NULL AND written > held THEN
                    RETURN NEW;
                END IF;
                IF given < 1 OR (given IS NULL AND (TG_OP <> 'UPDATE' OR written = held)) THEN
                    RAISE EXCEPTION '% of a row of % comes without a fencing token: the row carries token %',
                        TG_OP, {target}, held
                        USING ERRCODE = 'RF002', HINT = 'Write by RowFence or ResourceFence, which bring the token of '
                            'the lease. To mend the row by hand, stop all that write to it, and begin the transaction '
                            'with SET LOCAL {setting} = ''' || greatest(held, 1) || '''.';
                END IF;
                IF coalesce(given, written) < held THEN
                    RAISE EXCEPTION '% of a row of % with token % is stale: the row carries token %',
                        TG_OP, {target}, coalesce(given, written), held
                        USING ERRCODE = 'RF001', HINT = 'A newer leader has written this row. Stop the work of the '
                            'former one, and do not retry with its token. To mend the row by hand, stop all that '
                            'write to it, and begin the transaction with SET LOCAL {setting} = ''' || held || '''.';
                END IF;
                IF TG_OP = 'DELETE' THEN
                    RETURN OLD;
                END IF;
                IF written <> given AND written <> held THEN
                    RAISE EXCEPTION '% of a row of % writes token % in a transaction with token %',
                        TG_OP, {target}, written, given
                        USING ERRCODE = 'RF002', HINT = 'One transaction writes with one token, that of its '
                            '{setting}. Leave the token column alone; it is filled in.';
                END IF;
                NEW.{column} := given;
                RETURN NEW;
            END
            """;

    private static final String TRUNCATE_BODY = """
            BEGIN
                RAISE EXCEPTION 'TRUNCATE of % asks no row for its token', {target}
                    USING ERRCODE = 'RF002', HINT = 'Use DELETE in a fenced transaction. Or stop all that write to the '
                        'table, drop the trigger {truncate}, and create it again afterwards.';
            END
            """;

    /** Holding the lock from its first row on, a transaction need not look again. */
    private static final String COMMIT_BODY = """
            DECLARE
                given  bigint := nullif(current_setting('{setting}', true), '');
                seen   text := format('%s %s %s', pg_current_xact_id(), given, TG_ARGV[0]);
                fence  record;
            BEGIN
                IF current_setting('ringfence.seen', true) = seen THEN
                    RETURN NULL;
                END IF;
                IF given IS NULL THEN
                    RAISE EXCEPTION 'a transaction that wrote to % may not commit without the token of resource "%"',
                        {target}, TG_ARGV[0]
                        USING ERRCODE = 'RF002', HINT = 'Write by ResourceFence or RowFence, which bring the token of '
                            'the lease. By hand, stop all that write to the table, and begin the transaction with '
                            'SET LOCAL {setting} = ''<the token in ringfence_fence>''.';
                END IF;
                SELECT f.election, f.token, f.holder INTO fence
                  FROM {schema}.ringfence_fence AS f WHERE f.resource = TG_ARGV[0] FOR SHARE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'no fence of resource "%", to which % belongs', TG_ARGV[0], {target}
                        USING ERRCODE = 'RF003', HINT = 'Raise it once per term, before any work.';
                END IF;
                IF fence.token = given THEN
                    PERFORM set_config('ringfence.seen', seen, true);
                    RETURN NULL;
                END IF;
                RAISE EXCEPTION USING
                    ERRCODE = CASE WHEN fence.token > given THEN 'RF001' ELSE 'RF003' END,
                    MESSAGE = {found} || format(': token %s may not commit to resource "%s", to which %s belongs',
                        given, TG_ARGV[0], {target}),
                    HINT = CASE WHEN fence.token > given
                                THEN 'Another process leads. Stop the work of the former leader; do not retry.'
                                ELSE 'Raise the fence once per term, before any work.' END;
            END
            """;

    private FenceGuards() {}

    static String rows(SqlName table, SqlName column) {
        String name = ROWS_FUNCTION + column.last();
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        String suffix = bytes <= LONGEST_NAME ? column.last() : hashed(column.last());
        String function = table.sibling(ROWS_FUNCTION + suffix).quoted();
        // a misspelt column would be found by the first write, and refuse them all
        return inOne("PERFORM " + column.quoted() + " FROM " + table.quoted() + " LIMIT 0;\n")
                + function(function, "", ROWS_BODY.replace("{column}", column.quoted()))
                + "CREATE OR REPLACE TRIGGER " + ROWS + " BEFORE INSERT OR UPDATE OR DELETE ON " + table.quoted()
                + "\n    FOR EACH ROW EXECUTE FUNCTION " + function + "();\n";
    }

    private static String hashed(String column) {
        return UUID.nameUUIDFromBytes(column.getBytes(StandardCharsets.UTF_8)).toString();
    }

    static String truncate(SqlName table) {
        String function = table.sibling(TRUNCATE_FUNCTION).quoted();
        return function(function, "", TRUNCATE_BODY.replace("{truncate}", TRUNCATE))
                + "CREATE OR REPLACE TRIGGER " + TRUNCATE + " BEFORE TRUNCATE ON " + table.quoted()
                + "\n    FOR EACH STATEMENT EXECUTE FUNCTION " + function + "();\n";
    }

    /** A constraint trigger cannot be replaced. */
    static String commit(SqlName table, String resource, String schema) {
        String function = schema + "." + COMMIT_FUNCTION;
        return function(
                        function,
                        " SECURITY DEFINER",
                        COMMIT_BODY.replace("{found}", FenceFunctions.FOUND).replace("{schema}", schema))
                + "REVOKE ALL ON FUNCTION " + function + "() FROM PUBLIC;\n"
                + inOne("DROP TRIGGER IF EXISTS " + COMMIT + " ON " + table.quoted() + ";\n"
                        + "CREATE CONSTRAINT TRIGGER " + COMMIT + " AFTER INSERT OR UPDATE OR DELETE ON "
                        + table.quoted() + "\n    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "
                        + function + "('" + resource.replace("'", "''") + "');\n");
    }

    /** Functions go with the last trigger that calls them. */
    static String drop(SqlName table) {
        String name = "'" + table.quoted().replace("'", "''") + "'";
        String body = """
                DECLARE
                    guard record;
                BEGIN
                    FOR guard IN
                        SELECT t.tgname, t.tgfoid, t.tgfoid::pg_catalog.regprocedure AS called
                          FROM pg_catalog.pg_trigger t
                         WHERE t.tgrelid = pg_catalog.to_regclass({name})
                           AND t.tgname IN ('{rows}', '{commit}', '{truncate}')
                    LOOP
                        EXECUTE pg_catalog.format('DROP TRIGGER %I ON %s', guard.tgname, {name});
                        IF NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgfoid = guard.tgfoid) THEN
                            EXECUTE pg_catalog.format('DROP FUNCTION %s', guard.called);
                        END IF;
                    END LOOP;
                END
                """.replace("{rows}", ROWS)
                .replace("{commit}", COMMIT)
                .replace("{truncate}", TRUNCATE)
                .replace("{name}", name);
        return "DO " + FenceFunctions.dollarQuoted(body) + ";\n";
    }

    private static String function(String name, String rights, String template) {
        String body = template.replace("{setting}", SETTING)
                .replace("{target}", "format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME)");
        return "CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql" + rights
                + " SET search_path = pg_catalog, pg_temp AS " + FenceFunctions.dollarQuoted(body) + ";\n";
    }

    /** All or nothing, in whatever transactions a migration tool runs its statements. */
    private static String inOne(String statements) {
        return "DO " + FenceFunctions.dollarQuoted("BEGIN\n" + statements + "END\n") + ";\n";
    }
}
