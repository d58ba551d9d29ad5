package io.ringfence.fencing;

/**
 * The functions that seal a transaction and raise a fence on behalf of roles that have no right on the fence table.
 *
 * <p>They run with the rights of their owner and with a fixed search path, and name the table with its schema, so that
 * nothing a caller creates takes its place. They are VOLATILE: at READ COMMITTED each of their statements sees what was
 * committed until then. The version in the name lets old and new programs work side by side.
 *
 * <p>A refusal begins with the row that was found, in a form that {@link FenceRefusal} reads.
 */
final class FenceFunctions {
    /** Locks the fence row until the end of the transaction, or refuses. */
    static final String SEAL = "ringfence_seal_v1";

    /** Raises a fence, or refuses. */
    static final String RAISE = "ringfence_raise_v1";

    /** SQLSTATE: the fence is at a higher token. */
    static final String STALE = FenceSchema.STALE_SQLSTATE;

    /** SQLSTATE: the fence is missing or at a lower token. */
    static final String NOT_RAISED = "RF003";

    /** SQLSTATE: the fence belongs to another election. */
    static final String OTHER_ELECTION = "RF004";

    private static final String SEAL_ARGUMENTS = "(text, text, bigint)";
    private static final String RAISE_ARGUMENTS = "(text, text, bigint, text)";

    /** Not locking is safe only in a transaction that has written nothing and can write nothing any more. */
    private static final String SEAL_BODY = """
            DECLARE
                fence record;
            BEGIN
                IF pg_catalog.current_setting('transaction_read_only')::pg_catalog.bool
                        AND pg_catalog.pg_current_xact_id_if_assigned() IS NULL THEN
                    SELECT f.election, f.token, f.holder INTO fence
                      FROM {schema}.ringfence_fence AS f WHERE f.resource = sealed_resource;
                ELSE
                    SELECT f.election, f.token, f.holder INTO fence
                      FROM {schema}.ringfence_fence AS f WHERE f.resource = sealed_resource FOR SHARE;
                END IF;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'no fence of resource "%"', sealed_resource
                        USING ERRCODE = 'RF003', HINT = 'Raise it once per term, before any work.';
                END IF;
                IF fence.token = sealed_token AND (sealed_election IS NULL OR fence.election = sealed_election) THEN
                    RETURN;
                END IF;
                RAISE EXCEPTION USING
                    ERRCODE = CASE WHEN fence.election <> sealed_election THEN 'RF004'
                                   WHEN fence.token > sealed_token THEN 'RF001'
                                   ELSE 'RF003' END,
                    MESSAGE = {found} || pg_catalog.format(': token %s may not commit to resource "%s"',
                        sealed_token, sealed_resource);
            END
            """;

    private static final String RAISE_BODY = """
            DECLARE
                fence record;
            BEGIN
                INSERT INTO {schema}.ringfence_fence AS f (resource, election, token, holder, raised_at)
                VALUES (raised_resource, raised_election, raised_token, raised_holder, pg_catalog.clock_timestamp())
                ON CONFLICT (resource) DO UPDATE
                   SET token = excluded.token, holder = excluded.holder, raised_at = excluded.raised_at
                 WHERE f.token <= excluded.token AND f.election = excluded.election;
                IF FOUND THEN
                    RETURN;
                END IF;
                SELECT f.election, f.token, f.holder INTO fence
                  FROM {schema}.ringfence_fence AS f WHERE f.resource = raised_resource;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'the fence of resource "%" vanished while it was raised', raised_resource
                        USING HINT = 'Something removes rows of ringfence_fence, which makes the fence worthless.';
                END IF;
                RAISE EXCEPTION USING
                    ERRCODE = CASE WHEN fence.election <> raised_election THEN 'RF004' ELSE 'RF001' END,
                    MESSAGE = {found} || pg_catalog.format(': resource "%s" is not raised to token %s',
                        raised_resource, raised_token);
            END
            """;

    /** A refusal's first words, in PL/pgSQL that has the row in {@code fence}. */
    static final String FOUND = """
            pg_catalog.format('fence at token %s, election "%s", holder "%s"', fence.token,
                        pg_catalog.replace(fence.election, '"', '""'), pg_catalog.replace(fence.holder, '"', '""'))""".stripTrailing();

    private FenceFunctions() {}

    /** Prints both functions; {@code schema} is quoted. */
    static String create(String schema) {
        return create(
                        schema,
                        SEAL,
                        SEAL_ARGUMENTS,
                        "(sealed_resource text, sealed_election text, sealed_token bigint)",
                        SEAL_BODY)
                + "\n"
                + create(
                        schema,
                        RAISE,
                        RAISE_ARGUMENTS,
                        "(raised_resource text, raised_election text, raised_token bigint, raised_holder text)",
                        RAISE_BODY);
    }

    private static String create(String schema, String name, String arguments, String parameters, String template) {
        String body = template.replace("{found}", FOUND).replace("{schema}", schema);
        String function = schema + "." + name;
        return "CREATE OR REPLACE FUNCTION " + function + parameters + "\n"
                + "RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS "
                + dollarQuoted(body) + ";\n"
                + "REVOKE ALL ON FUNCTION " + function + arguments + " FROM PUBLIC;\n";
    }

    /** Returns a body as a literal. A name in it may hold anything, also what looks like its end. */
    static String dollarQuoted(String body) {
        String quote = "$body$";
        for (int i = 1; body.contains(quote); i++) {
            quote = "$body" + i + "$";
        }
        return quote + "\n" + body + quote;
    }

    static String grantSeal(String schema, String role) {
        return grant(schema, SEAL + SEAL_ARGUMENTS, role);
    }

    static String grantRaise(String schema, String role) {
        return grant(schema, RAISE + RAISE_ARGUMENTS, role);
    }

    private static String grant(String schema, String function, String role) {
        return "GRANT USAGE ON SCHEMA " + schema + " TO " + role + ";\n" + "GRANT EXECUTE ON FUNCTION " + schema + "."
                + function + " TO " + role + ";\n";
    }

    static String drop(String prefix) {
        return "DROP FUNCTION IF EXISTS " + prefix + SEAL + SEAL_ARGUMENTS + ";\n" + "DROP FUNCTION IF EXISTS " + prefix
                + RAISE + RAISE_ARGUMENTS + ";\n";
    }
}
