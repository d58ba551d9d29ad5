package io.ringfence.fencing;

import io.ringfence.servers.PostgresDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What was committed to a database, raises and writes, in the order of its write-ahead log: that is the order of the
 * commits, whatever the clocks and the clients say.
 */
final class FenceHistory {
    private static final Pattern CHANGE =
            Pattern.compile("table public\\.(history|ringfence_fence): (?:INSERT|UPDATE): (.*)");
    private static final Pattern NUMBER = Pattern.compile("(\\w+)\\[(?:integer|bigint)\\]:(\\d+)");

    private final PostgresDatabase database;
    private final String slot;

    /** Creates the tables and begins to record; the server needs {@code wal_level=logical}. */
    FenceHistory(PostgresDatabase database) throws SQLException {
        this.database = database;
        this.slot = "history_of_" + database.name();
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE counter (id int PRIMARY KEY, v int, token bigint)",
                "INSERT INTO counter SELECT i, 0, 0 FROM generate_series(0, 99) i",
                "CREATE TABLE history (writer int, number int, token bigint)");
        Sql.rows(database.dataSource(), "SELECT pg_create_logical_replication_slot('" + slot + "', 'test_decoding')");
    }

    /** Ends the recording and returns what was committed. */
    List<Commit> commits() throws SQLException {
        List<Commit> commits = new ArrayList<>();
        for (String line : Sql.rows(
                database.dataSource(),
                "SELECT data FROM pg_logical_slot_get_changes('" + slot
                        + "', NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1')")) {
            Matcher change = CHANGE.matcher(line);
            if (change.matches()) {
                commits.add(Commit.parse(change.group(1).equals("ringfence_fence"), change.group(2)));
            }
        }
        Sql.rows(database.dataSource(), "SELECT pg_drop_replication_slot('" + slot + "')");
        return commits;
    }

    /** Returns those that were committed after something with a higher token. */
    static List<Commit> stale(List<Commit> commits) {
        List<Commit> stale = new ArrayList<>();
        long highest = 0;
        for (Commit commit : commits) {
            if (commit.token() < highest) {
                stale.add(commit);
            }
            highest = Math.max(highest, commit.token());
        }
        return stale;
    }

    /** One committed transaction: a raise, or a writer's by its number. */
    record Commit(boolean raise, int writer, int number, long token) {

        private static Commit parse(boolean raise, String columns) {
            int writer = -1;
            int number = -1;
            long token = -1;
            Matcher column = NUMBER.matcher(columns);
            while (column.find()) {
                switch (column.group(1)) {
                    case "writer" -> writer = Integer.parseInt(column.group(2));
                    case "number" -> number = Integer.parseInt(column.group(2));
                    default -> token = Long.parseLong(column.group(2));
                }
            }
            return new Commit(raise, writer, number, token);
        }
    }
}
