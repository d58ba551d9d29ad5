package io.ringfence.fencing.corpus;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The tables of {@code tables.sql} in a database of their own, and one connection, which runs statements to see what they
 * would write. Nothing is ever committed. Not thread-safe.
 */
final class CorpusTables implements AutoCloseable {
    /** A token lower than those of all rows. */
    static final long STALE = 5;

    /** A token between those of the rows. */
    static final long BETWEEN = 15;

    /** A token higher than those of all rows. */
    static final long FRESH = 30;

    private static final String FILE = "tables.sql";
    private static final String LOOK = "SELECT * FROM look";
    private static final String LOOK_CLOSELY = "SELECT * FROM look_closely";

    private final Connection connection;
    private final Statement look;

    private CorpusTables(Connection connection) throws SQLException {
        this.connection = connection;
        this.look = connection.createStatement();
    }

    /** Creates the tables in an empty database. */
    static CorpusTables create(DataSource database) throws SQLException {
        PGSimpleDataSource source = database.unwrap(PGSimpleDataSource.class);
        source.setProperty(PGProperty.STRING_TYPE, "unspecified");
        source.setPrepareThreshold(0);
        source.setPreparedStatementCacheQueries(0);
        source.setProperty(PGProperty.OPTIONS, "-c statement_timeout=5s -c lock_timeout=5s");
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(script());
        }
        connection.commit();
        return new CorpusTables(connection);
    }

    private static String script() {
        try (InputStream file = Objects.requireNonNull(CorpusTables.class.getResourceAsStream(FILE), FILE)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Connection connection() {
        return connection;
    }

    /**
     * Runs a statement as it was written, looks at the rows as a leader with this token, and rolls back.
     *
     * @param parameters the values of its first parameters; the others get small numbers
     */
    Outcome runPlain(String sql, List<String> parameters, long token) throws SQLException {
        return run(sql, statement -> bindAll(statement, parameters), token, true);
    }

    /**
     * Runs a fenced statement, looks at the rows as a leader with this token, and rolls back.
     *
     * @param contents whether to look at all that the rows hold
     */
    Outcome run(FencedSql fenced, List<String> parameters, long token, boolean contents) throws SQLException {
        List<String> values = fenced.values(parameters, token);
        return run(fenced.sql(), statement -> bind(statement, values), token, contents);
    }

    private Outcome run(String sql, Binding binding, long token, boolean contents) throws SQLException {
        int parameters;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            parameters = binding.bind(statement);
            statement.execute();
        } catch (SQLException e) {
            connection.rollback();
            if (String.valueOf(e.getSQLState()).startsWith("08")) {
                throw e;
            }
            return Outcome.rejected(e);
        }
        return look(parameters, token, contents);
    }

    /** Looks at the rows as they are, as a leader with this token. */
    Outcome look(long token) throws SQLException {
        return look(0, token, true);
    }

    private Outcome look(int parameters, long token, boolean contents) throws SQLException {
        look.execute((contents ? LOOK_CLOSELY : LOOK) + "(" + token + "); ROLLBACK");
        try (ResultSet row = look.getResultSet()) {
            row.next();
            String sum = contents ? row.getString(5) : "";
            return new Outcome(null, parameters, row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4), sum);
        }
    }

    private interface Binding {
        /** Sets the parameters and returns how many there are. */
        int bind(PreparedStatement statement) throws SQLException;
    }

    private static int bind(PreparedStatement statement, List<String> values) throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            statement.setString(i + 1, values.get(i));
        }
        return values.size();
    }

    /** The driver knows how many parameters there are, and says so only by refusing one more. */
    private static int bindAll(PreparedStatement statement, List<String> parameters) {
        int bound = 0;
        try {
            while (true) {
                String number = String.valueOf(bound + 1);
                statement.setString(bound + 1, bound < parameters.size() ? parameters.get(bound) : number);
                bound++;
            }
        } catch (SQLException e) {
            return bound;
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
