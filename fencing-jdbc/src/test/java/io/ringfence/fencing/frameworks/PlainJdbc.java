package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** No framework at all. */
final class PlainJdbc implements Framework {
    private final DataSource dataSource;

    PlainJdbc(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** What a checked exception of JDBC arrives in. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure(SQLException cause) {
            super(cause);
        }
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        run(false, work);
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        run(true, work);
    }

    private void run(boolean readOnly, Consumer<Invoices> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setReadOnly(readOnly);
            connection.setAutoCommit(false);
            try {
                work.accept(new OnConnection(connection));
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        try (Connection connection = dataSource.getConnection()) {
            work.accept(new OnConnection(connection));
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    @Override
    public void close() {
        // holds nothing
    }

    /** Also for frameworks that have no savepoints, but give the connection away. */
    static void inSavepoint(Connection connection, Runnable work) {
        try {
            Savepoint before = connection.setSavepoint();
            try {
                work.run();
            } catch (RuntimeException e) {
                connection.rollback(before);
                throw e;
            }
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    private record OnConnection(Connection connection) implements Invoices {
        private static final String UPDATE = "UPDATE invoice SET status = ? WHERE id = ?";

        @Override
        public String status(int id) {
            try (PreparedStatement select = connection.prepareStatement("SELECT status FROM invoice WHERE id = ?")) {
                select.setInt(1, id);
                try (ResultSet row = select.executeQuery()) {
                    return row.next() ? row.getString(1) : null;
                }
            } catch (SQLException e) {
                throw new Failure(e);
            }
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO invoice (id, status, cancels) VALUES (?, ?, ?)")) {
                insert.setInt(1, id);
                insert.setString(2, status);
                insert.setObject(3, cancels);
                insert.executeUpdate();
            } catch (SQLException e) {
                throw new Failure(e);
            }
        }

        @Override
        public void update(int id, String status) {
            try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
                update.setString(1, status);
                update.setInt(2, id);
                update.executeUpdate();
            } catch (SQLException e) {
                throw new Failure(e);
            }
        }

        @Override
        public void updateAll(List<Integer> ids, String status) {
            try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
                for (int id : ids) {
                    update.setString(1, status);
                    update.setInt(2, id);
                    update.addBatch();
                }
                update.executeBatch();
            } catch (SQLException e) {
                throw new Failure(e);
            }
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            inSavepoint(connection, () -> work.accept(this));
        }
    }
}
