package io.ringfence.fencing.internal;

/** What the guards of a database are called, and the setting by which a transaction tells them its token. */
public final class GuardNames {
    /** The setting; transaction-local, and empty after its transaction. */
    public static final String SETTING = "ringfence.token";

    /** The trigger that compares rows. It fires after those of users, and sees what they leave. */
    public static final String ROWS = "zz_ringfence_guard_rows";

    /** The trigger that compares with the fence at COMMIT. */
    public static final String COMMIT = "zz_ringfence_guard_commit";

    /** The trigger that refuses TRUNCATE. */
    public static final String TRUNCATE = "zz_ringfence_guard_truncate";

    /** A condition: some table of the database has a guard that asks for the token. */
    public static final String INSTALLED =
            "EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgname IN ('" + ROWS + "', '" + COMMIT + "'))";

    private GuardNames() {}
}
