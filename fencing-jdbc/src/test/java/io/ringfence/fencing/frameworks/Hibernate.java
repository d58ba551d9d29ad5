package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.BatchSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;

/** Hibernate: entities, dirty checking and its own resource-local transactions. */
final class Hibernate implements Framework {
    private final SessionFactory sessions;

    Hibernate(DataSource dataSource, Map<String, String> more) {
        Configuration configuration = new Configuration().addAnnotatedClass(HibernateInvoice.class);
        configuration.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        configuration.getProperties().put(BatchSettings.STATEMENT_BATCH_SIZE, "20");
        configuration.getProperties().putAll(more);
        sessions = configuration.buildSessionFactory();
    }

    Hibernate(DataSource dataSource) {
        this(dataSource, Map.of());
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        sessions.inTransaction(session -> work.accept(new InSession(session)));
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        sessions.inSession(session -> {
            session.doWork(connection -> connection.setReadOnly(true));
            session.inTransaction(transaction -> work.accept(new InSession(session)));
        });
    }

    /** A session that keeps nothing back: the other kind does not write without a transaction. */
    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        try (StatelessSession session = sessions.openStatelessSession()) {
            work.accept(new Stateless(session));
        }
    }

    @Override
    public void close() {
        sessions.close();
    }

    private record InSession(Session session) implements Invoices {

        private HibernateInvoice find(int id) {
            return session.find(HibernateInvoice.class, id);
        }

        @Override
        public String status(int id) {
            session.clear();
            return find(id).status();
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            session.persist(new HibernateInvoice(id, status, cancels));
            session.flush();
        }

        @Override
        public void update(int id, String status) {
            updateAll(List.of(id), status);
        }

        @Override
        public void updateAll(List<Integer> ids, String status) {
            ids.forEach(id -> find(id).become(status));
            session.flush();
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            session.doWork(connection -> {
                try {
                    PlainJdbc.inSavepoint(connection, () -> work.accept(this));
                } catch (RuntimeException e) {
                    session.clear();
                    throw e;
                }
            });
        }

        @Override
        public Connection connection() {
            return session.doReturningWork(connection -> connection);
        }
    }

    private record Stateless(StatelessSession session) implements Invoices {

        @Override
        public String status(int id) {
            return session.get(HibernateInvoice.class, id).status();
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            session.insert(new HibernateInvoice(id, status, cancels));
        }

        @Override
        public void update(int id, String status) {
            session.update(new HibernateInvoice(id, status, null));
        }

        @Override
        public void updateAll(List<Integer> ids, String status) {
            session.updateMultiple(ids.stream()
                    .map(id -> new HibernateInvoice(id, status, null))
                    .toList());
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            throw new UnsupportedOperationException("there is no transaction");
        }

        @Override
        public Connection connection() {
            return session.doReturningWork(connection -> connection);
        }
    }
}
