package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/** JDBI: handles and its own transactions. */
final class JdbiCore implements Framework {
    private final Jdbi jdbi;

    JdbiCore(DataSource dataSource) {
        jdbi = Jdbi.create(dataSource);
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        try (Handle handle = jdbi.open()) {
            handle.useTransaction(inside -> work.accept(new WithHandle(inside)));
        }
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        try (Handle handle = jdbi.open()) {
            handle.setReadOnly(true);
            handle.useTransaction(inside -> work.accept(new WithHandle(inside)));
        }
    }

    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        try (Handle handle = jdbi.open()) {
            work.accept(new WithHandle(handle));
        }
    }

    @Override
    public void close() {
        // holds nothing
    }

    private record WithHandle(Handle handle) implements Invoices {
        private static final String UPDATE = "UPDATE invoice SET status = :status WHERE id = :id";

        @Override
        public String status(int id) {
            return handle.createQuery("SELECT status FROM invoice WHERE id = :id")
                    .bind("id", id)
                    .mapTo(String.class)
                    .one();
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            handle.createUpdate("INSERT INTO invoice (id, status, cancels) VALUES (:id, :status, :cancels)")
                    .bind("id", id)
                    .bind("status", status)
                    .bind("cancels", cancels)
                    .execute();
        }

        @Override
        public void update(int id, String status) {
            handle.createUpdate(UPDATE).bind("status", status).bind("id", id).execute();
        }

        @Override
        public void updateAll(List<Integer> ids, String status) {
            try (PreparedBatch batch = handle.prepareBatch(UPDATE)) {
                ids.forEach(id -> batch.bind("status", status).bind("id", id).add());
                batch.execute();
            }
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            handle.savepoint("before");
            try {
                work.accept(this);
            } catch (RuntimeException e) {
                handle.rollbackToSavepoint("before");
                throw e;
            }
            handle.releaseSavepoint("before");
        }

        @Override
        public Connection connection() {
            return handle.getConnection();
        }
    }
}
