package io.ringfence.fencing.frameworks;

import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** A repository on JPA, with the entity manager of the transaction that Spring runs. */
record SpringJpaInvoices(EntityManager entities, DataSource dataSource) implements Invoices {

    @Override
    public String status(int id) {
        entities.clear();
        return entities.find(HibernateInvoice.class, id).status();
    }

    @Override
    public void insert(int id, String status, Integer cancels) {
        entities.persist(new HibernateInvoice(id, status, cancels));
        entities.flush();
    }

    @Override
    public void update(int id, String status) {
        entities.createQuery("UPDATE HibernateInvoice SET status = :status WHERE id = :id")
                .setParameter("status", status)
                .setParameter("id", id)
                .executeUpdate();
    }

    @Override
    public void updateAll(List<Integer> ids, String status) {
        ids.forEach(id -> entities.find(HibernateInvoice.class, id).become(status));
        entities.flush();
    }

    /** Spring has no nested transactions with JPA over Hibernate. */
    @Override
    public void nested(Consumer<Invoices> work) {
        PlainJdbc.inSavepoint(connection(), () -> work.accept(this));
    }

    @Override
    public Connection connection() {
        return DataSourceUtils.getConnection(dataSource);
    }
}
