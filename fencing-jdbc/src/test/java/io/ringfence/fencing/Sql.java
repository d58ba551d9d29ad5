package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Short forms for the SQL that tests run outside of what they test. */
public final class Sql {

    private Sql() {}

    public static void execute(DataSource dataSource, String... statements) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            execute(connection, statements);
        }
    }

    static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** Returns all rows, each as its columns joined by a bar. */
    public static List<String> rows(DataSource dataSource, String query) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return rows(connection, query);
        }
    }

    static List<String> rows(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    columns.add(String.valueOf(row.getString(i)));
                }
                rows.add(String.join("|", columns));
            }
            return rows;
        }
    }

    public static String one(DataSource dataSource, String query) throws SQLException {
        return rows(dataSource, query).get(0);
    }
}
