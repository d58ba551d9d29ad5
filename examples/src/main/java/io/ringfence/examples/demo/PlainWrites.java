package io.ringfence.examples.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The control: an election, a lease that is checked before the work, and no fence. */
final class PlainWrites implements Writes {
    private final DataSource dataSource;

    PlainWrites(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public void takeOffice() {
        // Nothing tells the database who leads.
    }

    @Override
    public void inTransaction(Work work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            work.run(connection);
            connection.commit();
        }
    }

    @Override
    public void update(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            statement.executeUpdate();
        }
    }
}
